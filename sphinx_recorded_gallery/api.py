"""What a site may use of the engine; everything else may change without a word.

A site is an extension of its own, named beside those of the engine. It changes pages with
transforms, shows what was measured in forms of its own, and writes its texts in the reader's
language. The functions take Sphinx's environment, in which the pages of a build lie.

**Changing pages.** :func:`add_transform` and :func:`add_recipe_transform` call a function for each
page, at one of the times in :class:`Priority`. :func:`load_page` returns the recipe of a page and
its recording: a :class:`RecordedPage`, or :class:`Unrecorded`. Nodes of the site are added with
Sphinx's ``app.add_node``, where ``ONLY_HTML`` leaves them out of other formats, and written
into notebooks by a function registered with :func:`write_block`.

**Following changes.** A page that shows something of another file asks for it with :func:`watch`,
so that it is read again when that changes. :func:`once` calls a function once in a build.
:func:`note_problem` warns of a mistake in every build until it is corrected, :func:`note_link` says
that a page shows the title of another.

**Measurements.** :func:`load_results` returns what was measured of a recipe, and
:meth:`RecipeResults.of_release` what was with another release; :func:`look_up` one measurement or
the outcome of a claim. A :class:`Quantity` names what is measured; :func:`standard_quantities`
lists those of every gallery. :func:`load_spans` returns when lanes of a page's run were busy,
:func:`load_changes` what moved between two releases. Values are in seconds, bytes or plain numbers;
:func:`format_measurement` writes one with its unit. Words of a recipe are shown under the names
that the event ``recorded-gallery-name`` returns: ``app.connect("recorded-gallery-name", function)``
calls ``function(app, docname, kind, word)``, where ``kind`` is ``"name"`` or ``"quantity"``.

**Languages and translations.** :func:`current_language` and :func:`source_language` return a
:class:`Language`. :func:`find_message` returns a message of another page.

A mistake that a person can correct is raised as :class:`GalleryError`.

Constants: ``DATA_CLASS`` is the class of what is shown in the language of a recipe's code, such as
the names of variants; ``OUTPUT_CLASS`` that of the box around what a cell put out;
``DOWNLOADS_ONLY`` an attribute of nodes that only notebooks and scripts have; ``QUANTITY`` the kind
of word that names a quantity; ``SMALLEST`` and ``LARGEST`` the bounds of a value other than 0;
``SPACE`` stands before a unit. Types: ``RecipePage`` is a recorded page or one that is not,
``Size`` a number, a name or None.
"""

from .dates_and_numbers import format_date, format_number, format_percent, marks_of, typeset
from .errors import GalleryError
from .hooks import ONLY_HTML, Priority, add_recipe_transform, add_transform
from .languages import (
    Language,
    current_language,
    is_translated,
    source_language,
    translated_languages,
)
from .measurements.keys import Reference
from .measurements.lookup import (
    Lookup,
    Outcome,
    RecipeResults,
    all_files,
    find_page,
    load_results,
    look_up,
)
from .measurements.names import QUANTITY, name_case, name_measurement
from .measurements.numbers import (
    SPACE,
    describe_spread,
    format_measurement,
    format_range,
    format_value,
    join_ends,
)
from .measurements.processes import Measurements
from .measurements.quantities import Quantity, standard_quantities
from .measurements.ranges import Measurement
from .measurements.release_changes import Change, ReleaseChanges, compare_releases
from .measurements.release_page import load_changes
from .measurements.rows import LARGEST, SMALLEST, Row, Size, find_rows, slug
from .measurements.spans import Spans, load_spans
from .old_titles import note_link, pages_above
from .page_nodes import DATA_CLASS, DOWNLOADS_ONLY, OUTPUT_CLASS
from .pages.markdown import Page, join_inline, write_block
from .pages.page_header import describe_versions, has_downloads, page_links
from .project import code_digest, gallery_folders
from .recipes.find_recipes import find_recipes, find_recordings
from .recipes.recipe import Recipe, load_recipe
from .recipes.recorded_recipe import RecipePage, RecordedPage, Unrecorded, load_page
from .store import note_problem, once, watch
from .translate.catalogs import Kind, label_domains
from .translate.loading import (
    catalog_path,
    find_message,
    find_translations,
    repository_address,
    watch_glossary,
)
from .translate.status import Status, add_up, catalog_status

__all__ = [
    "DATA_CLASS",
    "DOWNLOADS_ONLY",
    "LARGEST",
    "ONLY_HTML",
    "OUTPUT_CLASS",
    "QUANTITY",
    "SMALLEST",
    "SPACE",
    "Change",
    "GalleryError",
    "Kind",
    "Language",
    "Lookup",
    "Measurement",
    "Measurements",
    "Outcome",
    "Page",
    "Priority",
    "Quantity",
    "Recipe",
    "RecipePage",
    "RecipeResults",
    "RecordedPage",
    "Reference",
    "ReleaseChanges",
    "Row",
    "Size",
    "Spans",
    "Status",
    "Unrecorded",
    "add_recipe_transform",
    "add_transform",
    "add_up",
    "all_files",
    "catalog_path",
    "catalog_status",
    "code_digest",
    "compare_releases",
    "current_language",
    "describe_spread",
    "describe_versions",
    "find_message",
    "find_page",
    "find_recipes",
    "find_recordings",
    "find_rows",
    "find_translations",
    "format_date",
    "format_measurement",
    "format_number",
    "format_percent",
    "format_range",
    "format_value",
    "gallery_folders",
    "has_downloads",
    "is_translated",
    "join_ends",
    "join_inline",
    "label_domains",
    "load_changes",
    "load_page",
    "load_recipe",
    "load_results",
    "load_spans",
    "look_up",
    "marks_of",
    "name_case",
    "name_measurement",
    "note_link",
    "note_problem",
    "once",
    "page_links",
    "pages_above",
    "repository_address",
    "slug",
    "source_language",
    "standard_quantities",
    "translated_languages",
    "typeset",
    "watch",
    "watch_glossary",
    "write_block",
]
