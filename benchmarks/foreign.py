"""Pages of examples of others, beside those that stock Sphinx-Gallery makes.

Examples of Sphinx-Gallery, NetworkX, lmfit, mpltern, mplcursors, tslearn and igraph, from their
source distributions (it needs a package index), are run by Sphinx-Gallery itself, and recorded and
rendered by the engine. Text, code, outputs, pictures and thumbnails of each page are compared, in
three themes; notebooks, scripts and templates of messages are looked at. Writes foreign.md; ends
with 1 where a page could not be made.
"""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from difflib import unified_diff
from itertools import islice
from pathlib import Path

import nbformat
import polib
from bs4 import BeautifulSoup, Tag
from folder_and_report import open_folder, write_report
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
THEMES = ("pydata_sphinx_theme", "furo", "alabaster")
ASPECTS = ("text", "code", "outputs", "pictures", "thumbnails")
# By gallery: the source distribution, and the examples that need no data but what lies beside them
GALLERIES = {
    "sphinx-gallery": (
        "sphinx-gallery==0.22.1",
        "plot_0_sin plot_1_exp plot_4_choose_thumbnail plot_4b_provide_thumbnail "
        "plot_5_unicode_everywhere plot_6_function_identifier plot_7_sys_argv plot_8_animations "
        "plot_9_multi_image_separate no_output/plot_strings",
    ),
    "networkx": (
        "networkx==3.6.1",
        "basic/plot_properties basic/plot_read_write basic/plot_simple_graph "
        "drawing/plot_center_node drawing/plot_clusters drawing/plot_degree drawing/plot_directed "
        "drawing/plot_edge_colormap drawing/plot_ego_graph drawing/plot_eigenvalues "
        "drawing/plot_four_grids drawing/plot_house_with_colors drawing/plot_labels_and_colors "
        "drawing/plot_multigraphs drawing/plot_multipartite_graph drawing/plot_node_colormap "
        "drawing/plot_rainbow_coloring drawing/plot_random_geometric_graph drawing/plot_selfloops "
        "drawing/plot_simple_path drawing/plot_spectral_grid drawing/plot_weighted_graph",
    ),
    "lmfit": (
        "lmfit==1.3.4",
        "example_Model_interface example_basinhopping example_brute "
        "example_complex_resonator_model example_confidence_interval example_detect_outliers "
        "example_diffev example_emcee_Model_interface example_expression_model "
        "example_fit_jacobian_benchmark example_fit_multi_datasets "
        "example_fit_multi_datasets_Model-interface example_fit_with_algebraic_constraint "
        "example_fit_with_bounds example_fit_with_derivfunc example_fit_with_inequality "
        "example_reduce_fcn example_sympy example_two_dimensional_peak "
        "example_uncertainties_y_and_x example_use_pandas",
    ),
    "mpltern": (
        "mpltern==1.0.5",
        "axis_and_tick/00.axis_label_position axis_and_tick/01.axis_label_rotation "
        "axis_and_tick/10.tick_position axis_and_tick/11.tick_direction "
        "axis_and_tick/12.tick_rotation axis_and_tick/20.tick-formatters "
        "axis_and_tick/21.tick-locators axis_and_tick/30.manual_tick_positions "
        "axis_and_tick/31.manual_ticklabels axis_and_tick/98.colored_axes "
        "axis_and_tick/99.tick_labels_inside_triangle intermediate/00.with_normal_plots "
        "intermediate/01.style_sheets intermediate/99.inset introductory/00.line_and_curve "
        "introductory/01.scatter introductory/02.contour introductory/03.pseudocolor "
        "introductory/04.normalization introductory/05.span introductory/06.text "
        "introductory/07.polygon introductory/08.quiver introductory/09.grid "
        "introductory/10.axis_labels introductory/11.triangular_grid limits/00.triangular_limits "
        "limits/01.hexagonal_limits limits/02.fit miscellaneous/00.logos "
        "transforms/00.cartesian transforms/01.ticks transforms/06.plot_fixed_onto_triangle "
        "transforms/99.arrows_along_axes triangle/00.aspect triangle/01.triangle_rotation "
        "triangle/02.arbitrary_triangle",
    ),
    "mplcursors": (
        "mplcursors==0.7.1",
        "artist_labels bar basic change_popup_color contour dataframe date highlight hover image "
        "keyboard_shortcuts labeled_points nondraggable paired_highlight scatter step",
    ),
    "tslearn": (
        "tslearn==0.10.0",
        "classification/plot_svm clustering/plot_DBSCAN "
        "clustering/plot_barycenter_interpolate clustering/plot_barycenters "
        "clustering/plot_kernel_kmeans clustering/plot_kmeans clustering/plot_kshape "
        "clustering/plot_silhouette metrics/plot_ctw metrics/plot_dtw "
        "metrics/plot_dtw_custom_metric metrics/plot_frechet metrics/plot_lb_keogh "
        "metrics/plot_lcss metrics/plot_lcss_custom_metric metrics/plot_sdtw "
        "metrics/plot_softdtw_path misc/plot_distance_and_matrix_profile "
        "misc/plot_matrix_profile misc/plot_preproc misc/plot_sax "
        "misc/plot_serialize_models neighbors/plot_knn_search neighbors/plot_knnts_sklearn "
        "neighbors/plot_neighbors",
    ),
    "igraph": (
        "igraph==1.0.0",
        "articulation_points betweenness bipartite_matching bipartite_matching_maxflow bridges "
        "cluster_contraction complement configuration connected_components "
        "delaunay-triangulation erdos_renyi generate_dag isomorphism maxflow "
        "minimum_spanning_trees online_user_actions personalized_pagerank quickstart "
        "ring_animation shortest_path_visualisation simplify spanning_trees "
        "stochastic_variability topological_sort visual_style visualize_cliques "
        "visualize_communities",
    ),
}
# What examples import, installed without what these need beside the packages of the project
PACKAGES = (
    "scipy==1.17.1 lmfit==1.3.4 asteval==1.0.10 uncertainties==3.2.3 dill==0.4.1 emcee==3.1.6 "
    "corner==2.3.0 numdifftools==0.11.2 mpltern==1.0.5 mplcursors==0.7.1 tslearn==0.10.0 "
    "scikit-learn==1.9.1 numba==0.68.1 llvmlite==0.50.0 joblib==1.6.0 threadpoolctl==3.8.0 "
    "narwhals==2.29.0 h5py==3.16.0 igraph==1.0.0 texttable==1.7.2"
)
# Where they are in a source distribution, if not in "examples"
EXAMPLES = {"igraph": "doc/examples_sphinx-gallery", "tslearn": "docs/examples"}
BESIDE = {"local_module.py", "GALLERY_HEADER.rst", "README.rst", "README.txt"}
DATA = {".dat", ".csv"}
# What recording asks for, where an example reads a file beside it: a line that names the file
INPUTS = {
    "lmfit/example_use_pandas": "peak.csv",
    "igraph/cluster_contraction": "lesmis/lesmis.gml",
}
CONF = """\
project = "Examples"
extensions = [{extension!r}]
suppress_warnings = ["config.cache"]
sphinx_gallery_conf = {{
    "examples_dirs": {examples},
    "gallery_dirs": {pages},
    "filename_pattern": "/plot_|/example_|/[0-9]{{2}}[.]|/mplcursors/|/igraph/",
    "ignore_repr_types": "matplotlib",
    "remove_config_comments": True,  # as the engine does
}}
"""
# What is beside the example on one of the two pages: links, and what tells when and how it ran
LEFT_OUT = (
    ".headerlink, .recipe-head, .sphx-glr-footer, .sphx-glr-timing, .sphx-glr-download-link-note, "
    ".sphx-glr-signature, .sphx-glr-script-out, .sphx-glr-horizontal, .recorded-output, "
    ".output_subarea, div.highlight, .math, math, script, style, img"
)


def main() -> int:
    """Compare, and write foreign.md."""
    with open_folder(__doc__) as folder:
        for gallery, (requirement, names) in GALLERIES.items():
            if not fetch(folder, gallery, requirement, names.split()):
                print(f"skipped: {requirement} cannot be downloaded here")
                return 0
        install(folder / "packages")
        faults = [
            *make(folder, "sphinx_gallery.gen_gallery"),
            *make(folder, "sphinx_recorded_gallery"),
        ]
        lines = [*compare(folder, faults)]
    write_report(Path(__file__), lines)
    print("\n".join(lines))
    print("\n".join(f"fault: {fault}" for fault in faults), file=sys.stderr)
    return int(bool(faults))


def fetch(folder: Path, gallery: str, requirement: str, names: list[str]) -> bool:
    """Download a source distribution and take its examples; tell whether it could be had."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    # Not of all packages: what builds it may come as a wheel
    command += [f"--no-binary={gallery}", requirement, "--dest", str(folder / "sdist")]
    pattern = f"{gallery.replace('-', '_')}-*.tar.gz"
    if not list((folder / "sdist").glob(pattern)):
        subprocess.run(command, capture_output=True)
    examples = Path(EXAMPLES.get(gallery, "examples"))
    wanted = {f"{name}.py" for name in names}
    parts = {Path(name).parent for name in names} | {Path()}
    inputs = set()
    for example in names:
        if read_file := INPUTS.get(f"{gallery}/{example}"):
            inputs.add(Path(example).parent / read_file)
    for path in (folder / "sdist").glob(pattern):
        with tarfile.open(path) as archive:
            for member in archive:
                path_in_source = Path(*Path(member.name).parts[1:])
                is_example = path_in_source.is_relative_to(examples)
                if not is_example:
                    continue
                name = path_in_source.relative_to(examples)
                is_named = name.name in BESIDE or name.suffix in DATA
                is_beside = is_named and name.parent in parts
                if name.as_posix() in wanted or name in inputs or is_beside:
                    target = folder / gallery / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    content = archive.extractfile(member).read()  # type: ignore[union-attr]
                    if read_file := INPUTS.get(f"{gallery}/{name.with_suffix('')}"):
                        content += f'\n# sphinx_gallery_inputs = ["{read_file}"]\n'.encode()
                    target.write_bytes(content)
        return True
    return False


def install(folder: Path) -> None:
    """Install what examples import into a folder, unless that is there."""
    if not folder.exists():
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target"]
        subprocess.run([*command, str(folder), *PACKAGES.split()], check=True, capture_output=True)


def make(folder: Path, extension: str) -> Iterator[str]:
    """Make the pages in all themes; yield what went wrong."""
    docs = folder / extension.partition(".")[0]
    docs.mkdir(exist_ok=True)
    examples = [f"../{gallery}" for gallery in GALLERIES]
    conf = CONF.format(extension=extension, examples=examples, pages=[*GALLERIES])
    (docs / "conf.py").write_text(conf)
    tree = "".join(f"   {pages}/index\n" for pages in GALLERIES)
    (docs / "index.rst").write_text(f"Galleries\n=========\n\n.. toctree::\n\n{tree}")
    commands = [["sphinx", "-qb", "html", "-D", f"html_theme={each}", ".", each] for each in THEMES]
    if extension == "sphinx_recorded_gallery":
        commands.insert(0, [extension, "record", "--device", "cpu"])
        commands.append(["sphinx", "-qb", "gettext", "-D", "gettext_compact=0", ".", "templates"])
    for words in commands:
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=docs,
            env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder / 'packages'}"},
            capture_output=True,
            text=True,
        )
        told = [each for each in done.stderr.splitlines() if re.match("Traceback|error:", each)]
        if told or (done.returncode and words[0] == "sphinx"):
            yield f"{' '.join(words)}: {done.returncode} {told[:3]} {done.stderr[-300:]}"


def compare(folder: Path, faults: list[str]) -> Iterator[str]:
    """Yield the lines of the tables; add to ``faults`` what is wrong with our files alone."""
    yield f"| Pages the same, of {'/'.join(THEMES)} | {' | '.join(ASPECTS)} |"
    yield f"|---|{'---:|' * len(ASPECTS)}"
    told: dict[tuple[str, ...], str] = {}
    for gallery, (requirement, names) in GALLERIES.items():
        same = {aspect: [0] * len(THEMES) for aspect in ASPECTS}
        for name in names.split():
            page = f"{gallery}/{name}"
            try:
                look(folder / "sphinx_recorded_gallery", page)
            except (AssertionError, OSError, SyntaxError, nbformat.ValidationError) as error:
                faults.append(f"{page}: {type(error).__name__}: {error}")
            for number, theme in enumerate(THEMES):
                stock, ours = (
                    read(folder / each, theme, page)
                    for each in ("sphinx_gallery", "sphinx_recorded_gallery")
                )
                for aspect in ASPECTS:
                    same[aspect][number] += stock[aspect] == ours[aspect]
                    changes = unified_diff(stock[aspect], ours[aspect], lineterm="", n=0)
                    lines = [line for line in changes if not line.startswith(("---", "+++", "@@"))]
                    if lines:
                        shown = " ".join(
                            f"`{hide_folders(line, folder)[:90]}`" for line in islice(lines, 4)
                        )
                        # nearly all pictures differ for the same reason: one stands for a gallery
                        is_picture = aspect in ("pictures", "thumbnails")
                        told.setdefault((gallery if is_picture else page, aspect), shown)
        cells = ("/".join(map(str, same[aspect])) for aspect in ASPECTS)
        yield f"| {requirement}, {len(names.split())} pages | {' | '.join(cells)} |"
    yield ""
    yield "| Differs | in | `-` stock, `+` engine |"
    yield "|---|---|---|"
    for (page, aspect), shown in told.items():
        yield f"| {page} | {aspect} | {shown.replace('|', chr(92) + '|')} |"


def hide_folders(line: str, folder: Path) -> str:
    """Return a line without the folders of this machine."""
    line = line.replace(str(folder), "").replace(sys.prefix, "")
    for name in (tempfile.gettempdir(), str(Path.home())):
        line = line.replace(f"{name}/", "/")
    return line


def read(docs: Path, theme: str, page: str) -> dict[str, list[str]]:
    """Return what a page shows of an example, aspect by aspect."""
    html = (docs / theme / f"{page}.html").read_text(encoding="utf-8")
    heading = BeautifulSoup(html, "html.parser").find("h1")
    assert isinstance(heading, Tag)
    body = heading.find_parent("section")
    assert isinstance(body, Tag)
    found: dict[str, list[str]] = {"code": [], "outputs": [], "pictures": []}
    for node in body.select("div.highlight, .recorded-html, .output_subarea"):
        is_output = (
            node.find_parent(class_="sphx-glr-script-out") or "highlight" not in node["class"]
        )
        lines = [line.rstrip() for line in node.get_text().strip("\n").splitlines()]
        found["outputs" if is_output else "code"] += filter(None, lines)
    for image in body.select("img[src*='_images/sphx_glr']"):
        path = docs / theme / "_images" / Path(str(image["src"])).name
        size = Image.open(path).size if path.suffix == ".png" else path.suffix
        found["pictures"].append(f"{size} {' '.join(str(image.get('alt', '')).split())}")
    for node in body.select(LEFT_OUT):
        node.decompose()
    found["text"] = [" ".join(each.split()) for each in body.get_text("\n").split("\n")]
    found["text"] = " ".join(filter(None, found["text"])).split(". ")
    folder, _slash, name = page.rpartition("/")
    [thumbnail] = (docs / folder / "images/thumb").glob(f"sphx_glr_{name}_thumb.*")
    with Image.open(thumbnail) as image:  # what it shows, in 8 shades of 8 × 6 pixels
        shades = image.convert("L").resize((8, 6), Image.Resampling.BOX).tobytes()
    found["thumbnails"] = [" ".join(f"{shade // 32}" for shade in shades)]
    return found


def look(docs: Path, page: str) -> None:
    """Raise an error if notebook, script or template of a page is not as it should be."""
    notebook = nbformat.read(docs / THEMES[0] / f"{page}.ipynb", as_version=4)
    nbformat.validate(notebook)
    ast.parse((docs / THEMES[0] / f"{page}.py").read_text(encoding="utf-8"))
    title = notebook.cells[0].source.splitlines()[0].removeprefix("# ")
    messages = {each.msgid for each in polib.pofile(str(docs / "templates" / f"{page}.pot"))}
    word = re.sub("\\W+$", "", title.split()[0])  # a page has other quotation marks
    assert any(word in each for each in messages), f"no message of {title!r}"


if __name__ == "__main__":
    sys.exit(main())
