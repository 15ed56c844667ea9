"""A recipe shows what it shows as a script that Sphinx-Gallery runs, though a kernel runs it.

Jupyter's own rules for people who look at a notebook are not those of a gallery.
"""

import base64
import io
import json
import re

import pytest
from nbformat import NotebookNode
from PIL import Image

from sphinx_recorded_gallery.record.normalize_outputs import OutputNormalizer
from tests.helpers.gallery import Gallery

pytestmark = pytest.mark.slow
TITLE = '"""\nTitle\n=====\n"""\n'

# What ipywidgets tells about an output widget, without the package
WIDGETS = """
import sys
from contextlib import contextmanager
from comm import create_comm
from IPython.display import clear_output, display


def output_widget(**state):
    state = {"_model_name": "OutputModel", "msg_id": "", "outputs": [], **state}
    return create_comm(target_name="jupyter.widget", data={"state": state})


def show(widget, text):
    view = {"model_id": widget.comm_id, "version_major": 2, "version_minor": 0}
    view = {"text/plain": text, "application/vnd.jupyter.widget-view+json": view}
    display(view, raw=True)


@contextmanager
def catch(widget):
    sys.stdout.flush()
    widget.send({"method": "update", "state": {"msg_id": "request"}})
    yield
    sys.stdout.flush()
    widget.send({"method": "update", "state": {"msg_id": ""}})
"""


def run(gallery: Gallery, *cells: str) -> list[list[NotebookNode]]:
    """Record a recipe; return the outputs of its cells."""
    gallery.write("recipe", TITLE + "\n\n# %%\n\n".join(cells))
    assert gallery.record("recipe"), gallery.messages
    return [cell.outputs for cell in gallery.recording("recipe").notebook.cells]


def texts(outputs: list[NotebookNode]) -> str:
    return "".join(output.get("text", "") for output in outputs)


def pictures(outputs: list[NotebookNode]) -> list[Image.Image]:
    shown = [output.data for output in outputs if "image/png" in output.get("data", {})]
    return [Image.open(io.BytesIO(base64.b64decode(data["image/png"]))) for data in shown]


def test_figures_without_axes_are_drawn(gallery: Gallery) -> None:
    start = "import matplotlib.pyplot as plt\nimport numpy as np\n"
    cells = run(
        gallery,
        f"{start}fig = plt.figure()\nfig.text(0.1, 0.5, 'Only words');",
        "fig = plt.figure()\nplt.figimage(np.arange(100).reshape(10, 10));",
        "fig = plt.figure()\nfig.add_artist(plt.Rectangle((0.1, 0.1), 0.5, 0.5));",
        "for part in plt.figure(facecolor='teal').subfigures(1, 2):\n    part.suptitle('part');",
        "plt.figure(); plt.figure(); None",
    )
    assert [len(pictures(outputs)) for outputs in cells] == [1, 1, 1, 1, 2]


def test_all_open_figures_are_drawn_in_order_of_their_numbers(gallery: Gallery) -> None:
    use = "for number in (2, 1, 3, 2):\n    plt.figure(number).suptitle(str(number))\n"
    for start in ("plt.ion()", "plt.ioff()", "plt.switch_backend('agg')"):
        [outputs] = run(gallery, f"import matplotlib.pyplot as plt\n{start}\n{use}None")
        alts = [output.metadata["image/png"]["alt"] for output in outputs]
        assert (start, alts) == (start, ["1", "2", "3"])


def test_figures_that_a_cell_defers_are_drawn_by_the_next(gallery: Gallery) -> None:
    first = "import matplotlib.pyplot as plt\n_ = plt.figure(figsize=(2, 1)).subplots()\n"
    first += "# sphinx_gallery_defer_figures\n"
    second = "_ = plt.title('late')\nplt.gcf().axes\n"
    deferring, showing = run(gallery, first, second)
    assert pictures(deferring) == []
    assert len(pictures(showing)) == 1
    assert [
        each.data["text/plain"] for each in showing if each.output_type == "execute_result"
    ] == ["[<Axes: title={'center': 'late'}>]"]


def test_code_is_run_as_it_stands(gallery: Gallery) -> None:
    prompts = 'text = """\n>>> a = 1\nIn [1]: b\n!ls\n"""\nprint(text)\n'
    printed, semicolon = run(gallery, prompts, "6 * 7;\n")
    assert texts(printed) == "\n>>> a = 1\nIn [1]: b\n!ls\n\n"
    assert [each.data["text/plain"] for each in semicolon] == ["42"]


def test_a_figure_that_is_shown_without_waiting_stays_open(gallery: Gallery) -> None:
    """As by ``plt.pause()`` in a loop: what is drawn afterwards belongs to the same picture."""
    code = """
import matplotlib.pyplot as plt

figure, axes = plt.subplots(figsize=(2, 1))
for number in range(3):
    axes.plot([number, 1])
    plt.pause(0.001)
print(figure.canvas.buffer_rgba().shape)
axes.set_title("Last")
plt.show(block=False)
plt.title("Very last")
plt.show()
"""
    outputs = run(gallery, code)[0]
    pictures = [output for output in outputs if "image/png" in output.get("data", {})]
    assert [picture.metadata["image/png"]["alt"] for picture in pictures] == ["Very last"]
    assert texts(outputs) == "(100, 200, 4)\n"


def test_nothing_tells_an_example_that_somebody_sits_at_a_prompt(gallery: Gallery) -> None:
    code = "import sys\nprint(hasattr(sys, 'ps1'), sys.flags.interactive)"
    assert texts(run(gallery, code)[0]) == "False 0\n"


def test_pages_that_bokeh_saves_stay_in_the_folder_of_the_run(gallery: Gallery) -> None:
    code = """
import inspect
import os

outermost = inspect.stack()[-1].frame
print(os.path.dirname(outermost.f_globals["__file__"]) == os.getcwd())
"""
    assert texts(run(gallery, code)[0]) == "True\n"


def test_a_stream_can_be_reconfigured(gallery: Gallery) -> None:
    code = "import sys\nsys.stdout.reconfigure(encoding='utf-8', errors='replace')\nprint('é')"
    assert texts(run(gallery, code)[0]) == "é\n"


def test_settings_of_saved_figures_hold(gallery: Gallery) -> None:
    settings = {"savefig.facecolor": "#ff0000", "savefig.dpi": 20}
    start = "import matplotlib.pyplot as plt\n"
    saved, own, retina = run(
        gallery,
        f"{start}plt.rcParams.update({settings})\nplt.figure(figsize=(4, 3)).text(0, 0, 'a');",
        "plt.figure(figsize=(4, 3), facecolor='#0000ff').text(0, 0, 'a');",
        "from matplotlib_inline.backend_inline import set_matplotlib_formats\n"
        "set_matplotlib_formats('retina', bbox_inches=None)\n"
        "plt.figure(figsize=(4, 3), dpi=50).text(0, 0, 'a');",
    )
    [red], [blue], [large] = pictures(saved), pictures(own), pictures(retina)
    assert red.size == blue.size == (80, 60)
    assert large.size == (400, 300)
    assert [picture.convert("RGB").getpixel((1, 1)) for picture in (red, blue)] == [
        (255, 0, 0),
        (0, 0, 255),
    ]


def test_clearing_a_widget_leaves_the_cell_alone(gallery: Gallery) -> None:
    inside, across, set_by_code = run(
        gallery,
        f"{WIDGETS}\n"
        "widget = output_widget()\n"
        "print('outside, before')\nshow(widget, 'Output()')\n"
        "with catch(widget):\n    print('old')\n    clear_output()\n    print('new')\n"
        "print('outside, behind')\n",
        "with catch(widget):\n"
        "    print('first')\n    clear_output(wait=True)\n    print('second')\n"
        "label = display('before', display_id=True)\n"
        "with catch(widget):\n    clear_output()\n    print('third')\n"
        "label.update('after')\n",
        "state = {'outputs': [{'output_type': 'stream', 'name': 'stdout', 'text': 'held'}]}\n"
        "widget.send({'method': 'update', 'state': state})\n",
    )
    assert texts(inside) == "outside, before\nnew\noutside, behind\n"
    assert not [output for output in inside if output.output_type != "stream"]
    assert texts(across) == "third\n"
    assert [output.data["text/plain"] for output in across if "data" in output] == ["'after'"]
    assert texts(set_by_code) == "held"


def test_a_cell_that_clears_itself_has_what_came_behind(gallery: Gallery) -> None:
    start = "from IPython.display import clear_output\n"
    [outputs] = run(gallery, f"{start}print('old')\nclear_output(wait=True)\nprint('new')")
    assert texts(outputs) == "new\n"


def test_a_widget_that_no_page_can_show_is_told(gallery: Gallery) -> None:
    [outputs] = run(gallery, f"{WIDGETS}\nslider = output_widget(_model_name='IntSliderModel')\n"
        "show(slider, 'IntSlider(value=0)')")  # fmt: skip
    assert outputs[0].data["text/plain"] == "IntSlider(value=0)"
    assert "cell 1: pages and notebooks leave out a widget, and show its text" in gallery.messages


# Shows a figure as Plotly does, without the package: by the renderer that a variable names
PLOTLY = """
import os
from IPython.display import display

if os.environ.get("PLOTLY_RENDERER") == "notebook_connected":
    figure = {"text/html": "<div id='a'></div><script>Plotly.newPlot('a', [])</script>"}
else:
    figure = {"application/vnd.plotly.v1+json": {"data": []}}
display(figure, raw=True)
"""


def test_the_remedy_for_a_figure_of_plotly_shows_it(gallery: Gallery) -> None:
    gallery.configure(recorded_gallery_trust_outputs=True)
    run(gallery, PLOTLY)
    [told] = [line for line in gallery.messages.splitlines() if "leave out" in line]
    remedy = re.search(r"write in recording.toml: (.+) under (\[.+\])$", told)
    assert remedy, told
    (gallery.recipes / "recording.toml").write_text(f"{remedy[2]}\n{remedy[1]}\n")
    assert gallery.record("recipe", force=True), gallery.messages
    assert "leave out" not in gallery.messages
    assert "Plotly.newPlot('a', [])" in gallery.build().page("recipes/recipe")


def test_no_script_is_a_remedy_where_pages_show_none(gallery: Gallery) -> None:
    for data in ('"application/vnd.plotly.v1+json": {}', '"application/vnd.vegalite.v5+json": {}'):
        run(gallery, f"from IPython.display import display\ndisplay({{{data}}}, raw=True)")
        assert "; show something without scripts and styles, or a picture" in gallery.messages
        assert "PLOTLY_RENDERER" not in gallery.messages
        assert "altair" not in gallery.messages


def test_a_line_says_only_the_first_of_what_pages_leave_out(gallery: Gallery) -> None:
    tags = "".join(f"<x-{number}></x-{number}>" for number in range(20))
    run(gallery, f"from IPython.display import HTML\nHTML({tags!r})")
    assert ", <x-7>, 12 more; show something" in gallery.messages


def test_processes_of_a_pool_find_what_an_example_defines(gallery: Gallery) -> None:
    square = "import multiprocessing\n\n\ndef square(x):\n    return x * x\n\n\n"
    pool = "with multiprocessing.get_context('spawn').Pool(2) as pool:"
    lines = f"    {pool}\n        print(pool.map(square, [1, 2, 3]))"
    [outputs] = run(gallery, f'{square}if __name__ == "__main__":\n{lines}')
    assert texts(outputs) == "[1, 4, 9]\n"


def test_streams_keep_their_order(gallery: Gallery) -> None:
    lines = "for number in range(3):\n    print(number)\n    print('error', file=sys.stderr)"
    [outputs] = run(gallery, f"import sys\n{lines}")
    assert texts(outputs) == "0\nerror\n1\nerror\n2\nerror\n"


def test_libraries_take_it_for_a_script(gallery: Gallery) -> None:
    bar = "from tqdm.auto import tqdm\nfor _ in tqdm(range(3), bar_format='{percentage:.0f} %'):"
    rich = "from rich.progress import track\nfor _ in track(range(3), description='Work'):"
    loop = "import asyncio\nasync def work():\n    await asyncio.sleep(0)\n    return 'done'\n"
    tqdm, track, asyncio_run, awaited = run(
        gallery,
        f"{bar}\n    pass",
        f"{rich}\n    pass",
        f"{loop}print(asyncio.run(work()))",
        "print(await work(), asyncio.get_running_loop().is_running())",
    )
    assert texts(tqdm) == "100 %\n"
    assert texts(track).startswith("Work ━━")
    assert texts(asyncio_run) == "done\n"
    assert texts(awaited) == "done True\n"


def test_the_text_of_a_page_is_not_printed_again(gallery: Gallery) -> None:
    [outputs] = run(gallery, "print(__doc__)\nprint(__name__)")
    assert texts(outputs).strip() == "__main__"


def test_a_value_is_recorded_with_its_type(gallery: Gallery) -> None:
    value = "class Value:\n    def __str__(self):\n        return f'words {id(self):#x}'\nValue()"
    outputs, plain = run(gallery, value, "[1]")
    facts = {
        "type": "<class '__main__.Value'>",
        "str": "words 0x...",
        "repr": "<__main__.Value object at 0x...>",  # IPython leaves out "object"
    }
    assert outputs[0].metadata["recorded_gallery"] == facts
    assert plain[0].metadata["recorded_gallery"] == {"type": "<class 'list'>"}


@pytest.mark.parametrize(
    ("module", "line", "place", "remedy"),
    [
        ("raise ValueError('they disagree')", "check()", "recipe.py:10:", "mend the example"),
        ("assert 1 == 2, 'they disagree'", "check()", "recipe.py:10:", "mend the example"),
        ("1 / 0", "check()", "recipe.py:10:", "(raised in _harness.py:3, which it calls); mend"),
        (
            "import time; time.sleep(30)",
            "# sphinx_gallery_cell_timeout = 1\ncheck()",
            "recipe.py:11:",
            "raise the limit in the example",
        ),
        ("raise SystemExit(2)", "check()", "recipe.py:10:", "print why a part is left out"),
        ("pass", "import nowhere", "recipe.py:10:", 'PYTHONPATH = "{recipes}/../src"'),
        (
            "pass",
            "from urllib.request import urlopen; urlopen('http://nowhere.invalid/')",
            "recipe.py:10:",
            "an example has to run without a network",
        ),
        ("pass", "input('How many?')", "recipe.py:10:", "write the value into its code"),
    ],
)
def test_a_failure_points_to_the_line_to_mend(
    gallery: Gallery, module: str, line: str, place: str, remedy: str
) -> None:
    gallery.write("_harness", f'"""Check."""\ndef check():\n    {module}\n')
    gallery.write("recipe", f"{TITLE}from _harness import check\n\n\n# %%\n\n{line}\n")
    assert not gallery.record("recipe")
    message = next(text for text in gallery.messages.splitlines() if text.startswith("error:"))
    assert place in message
    assert remedy in message


def test_facts_of_a_value_hold_no_secrets() -> None:
    output = json.loads('{"output_type": "execute_result", "data": {}, "metadata": {}}')
    output["metadata"]["recorded_gallery"] = {"str": "token-12345678"}
    node = NotebookNode(output, data={}, metadata=NotebookNode(output["metadata"]))
    [cleaned] = OutputNormalizer(hidden=(), secrets={"token-12345678"}).clean_outputs([node])
    assert cleaned.metadata["recorded_gallery"] == {"str": "***"}
