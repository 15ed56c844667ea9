"""What a site may use of the engine; everything else may change without a word.

A site is an extension of its own, named beside those of the engine. It changes pages with
transforms, shows what was measured in forms of its own, and writes its texts in the reader's
language. What takes ``env`` takes Sphinx's environment, in which the pages of a build lie.

**The recipes.** A :class:`Gallery` is asked for the recipes of a build: their files, their pages,
what was measured and what readers call it. :meth:`Gallery.load_page` returns a page with its
recording, if it has one. :meth:`Gallery.load_results` returns :class:`RecipeResults`, whose
:class:`Measurements` are found by key and compared; :meth:`Gallery.look_up` says more of one key,
:meth:`Gallery.load_changes` each :class:`Change` between releases. Values are in seconds, bytes,
shares of one or plain numbers, as the ``unit`` of each :class:`Measurement` says.
:func:`load_recipes` reads recipes outside of a build.

**Changing pages.** :func:`add_transform` and :func:`add_recipe_transform` call a function for each
page, at one of the times in :class:`Priority`. Nodes of the site are added with Sphinx's
``app.add_node``, where ``ONLY_HTML`` leaves them out of other formats, and written into notebooks
by a function registered with :func:`write_block`, which gets the :class:`MarkdownPage`. A node with
the attribute ``DOWNLOADS_ONLY`` is in notebooks and scripts alone; a block of code in a text with
the attribute ``NOTEBOOK_HEAD`` is a cell in notebooks, below the lines that are its value, and
below a sentence if it also has the attribute ``NOTEBOOK_NOTE``.
:func:`find_cell_behind`, :func:`add_page_link` and :func:`add_download_fact` find what the engine
put on a page.

**Following changes.** A page that shows something of another file asks for it with :func:`watch`,
so that it is read again when that changes. :func:`once` calls a function once in a build.
:func:`note_problem` warns of a mistake in every build until it is corrected, :func:`note_link` says
that a page shows the title of another. :func:`code_digest` tells Sphinx that the site's own code is
another.

**Languages and translations.** A :class:`Language` is the build's or that of the sources,
:class:`Typography` writes numbers and texts as the build's language does. :class:`Translations` is
asked for messages, for how many there are in each catalog (:class:`CatalogStatus`), and for the
glossary. :func:`repository_address` leads to what a reader may edit. Words of a recipe are shown
under the names that the event ``recorded-gallery-name`` returns:
``app.connect("recorded-gallery-name", function)`` calls ``function(app, docname, kind, word)``,
where ``kind`` is ``"name"`` or ``"quantity"``. A :class:`Quantity` is what the function returns
that the setting ``recorded_gallery_quantities`` names. :func:`find_outdated` returns the release of
a package among versions of a recording, if it is not the current one.

A mistake that a person can correct is raised as :class:`GalleryError`; :func:`not_utf8` returns the
one of a file in another encoding, :func:`merge_conflict` that of marks that git left.

``DATA_CLASS`` is the class of what is shown in the language of a recipe's code, such as the names
of variants, and ``MEASURED_TABLE_CLASS`` that of a table of measurements. ``RecipePage`` is the
type of a page that :meth:`Gallery.load_page` returns: it has the ``recipe``, with ``path``,
``title`` and ``summary``, and its ``recording``, which may be None.
"""

from .errors import GalleryError, merge_conflict, not_utf8
from .gallery import Gallery, load_recipes
from .hooks import ONLY_HTML, Priority, add_recipe_transform, add_transform
from .languages import Language
from .measurements.lookup import Lookup, RecipeResults
from .measurements.processes import Measurements
from .measurements.quantities import Quantity
from .measurements.ranges import Measurement
from .measurements.release_changes import Change
from .measurements.rows import slug
from .old_titles import note_link
from .page_nodes import (
    DATA_CLASS,
    DOWNLOADS_ONLY,
    MEASURED_TABLE_CLASS,
    NOTEBOOK_HEAD,
    NOTEBOOK_NOTE,
    find_cell_behind,
)
from .pages.markdown import MarkdownPage, write_block
from .pages.page_header import add_download_fact, add_page_link
from .project import code_digest
from .recipes.recorded_recipe import RecipePage
from .recipes.releases import find_outdated
from .store import note_problem, once, watch
from .translate.loading import repository_address
from .translate.status import CatalogStatus
from .translations import Translations
from .typography import Typography

__all__ = [
    "DATA_CLASS",
    "DOWNLOADS_ONLY",
    "MEASURED_TABLE_CLASS",
    "NOTEBOOK_HEAD",
    "NOTEBOOK_NOTE",
    "ONLY_HTML",
    "CatalogStatus",
    "Change",
    "Gallery",
    "GalleryError",
    "Language",
    "Lookup",
    "MarkdownPage",
    "Measurement",
    "Measurements",
    "Priority",
    "Quantity",
    "RecipePage",
    "RecipeResults",
    "Translations",
    "Typography",
    "add_download_fact",
    "add_page_link",
    "add_recipe_transform",
    "add_transform",
    "code_digest",
    "find_cell_behind",
    "find_outdated",
    "load_recipes",
    "merge_conflict",
    "not_utf8",
    "note_link",
    "note_problem",
    "once",
    "repository_address",
    "slug",
    "watch",
    "write_block",
]
