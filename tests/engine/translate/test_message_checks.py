"""Single messages: right ones that look wrong, and wrong ones that look right."""

import pytest

from gallery import ROOT
from recipe_gallery.languages import Language
from recipe_gallery.translate.catalogs import Kind
from recipe_gallery.translate.checks import rules  # noqa: F401 (it adds the checks)
from recipe_gallery.translate.checks.message import CHECKS, Message
from recipe_gallery.translate.glossary import load_glossary

# Which words a number may stand for
NUMBER_WORDS = {
    "0": "zero none",
    "1": "one once first half third quarter tenth hundredth thousandth January",
    "2": "two twice second both half doubles doubled pair February",
    "3": "three third triples March",
    "4": "four quarter April",
    "5": "five fifth May",
    "7": "seven July",
    "10": "ten tenth October billion",
    "12": "twelve dozen December",
    "50": "fifty half",
    "100": "hundred million",
    "1000": "thousand",
}
RIGHT = [
    ("prose", "Note: for example, ``torch.compile``.", "注：例如：``torch.compile``。"),
    ("label", "100 % of this page is translated", "이 페이지의 100 %가 번역됨"),
    ("label", "100% free", "100% 무료"),
    ("label", "Results of %(recipe)s", "%(recipe)s의 결과"),
    ("prose", "Use |release|.", "|release|를 씁니다."),
    ("prose", "If a < b and c > d.", "a<b이고 c>d이면"),
    ("prose", ":math:`\\text{limit}` is.", ":math:`\\text{한계}` 입니다."),
    ("prose", ":guilabel:`Save` it.", ":guilabel:`저장` 하세요."),
    ("prose", "As of March 2026.", "2026년 3월 기준입니다."),
    ("prose", "A third of the time.", "시간의 3분의 1입니다."),
    ("prose", "It doubles the time.", "시간이 2배가 됩니다."),
    *(
        ("prose", f"It takes {word} days.", f"{number}일이 걸립니다.")
        for number, words in NUMBER_WORDS.items()
        for word in words.split()
    ),
    ("prose", "A million calls.", "100만 번 호출합니다."),
    ("prose", "On two H200s it is faster.", "H200 2개에서는 더 빠릅니다."),
    ("prose", "In the 1990s", "1990년대"),
    ("prose", "Inductor, Triton, cuBLAS", "Inductor, Triton, cuBLAS"),
    ("comment", "Set `mode` as before.", "앞과 같이 `mode`를 설정합니다."),
]
WRONG = [
    ("hidden-character", "prose", "It is fast.", "빠\u3164릅니다."),
    ("markup-changed", "prose", "Set a*b*c to one.", "a*b*c를 1로 둡니다."),
    ("address", "comment", "Random", "난수 https://spam.example/x"),
    ("address", "label", "Open the page", "https://evil.example 열기"),
    ("raw-html", "prose", "It is fast.", "<!-- 검토 --> 빠릅니다."),
    ("raw-html", "prose", "A fast thing.", "빠른&nbsp;것입니다."),
    ("numbers", "prose", "It is 4.8 TB here.", "여기는 4.8 TB/s입니다."),
    ("placeholder", "label", "{count:,} messages", "메시지 개"),
    ("spaces", "prose", "It is fast.", "빠릅니다.\u00a0"),
]


def alarms(kind: str, text: str, translation: str) -> list[str]:
    message = Message(
        text=text,
        translation=translation,
        kind=Kind[kind.upper()],
        language=Language(code="ko", name="한국어", glue=True),
        glossary=load_glossary(ROOT / "locale"),
    )
    return [
        check.name for check in CHECKS if message.kind in check.of for _text in check.run(message)
    ]


@pytest.mark.parametrize(("kind", "text", "translation"), RIGHT)
def test_a_right_translation_raises_no_alarm(kind: str, text: str, translation: str) -> None:
    assert alarms(kind, text, translation) == []


@pytest.mark.parametrize(("check", "kind", "text", "translation"), WRONG)
def test_a_wrong_translation_is_found(check: str, kind: str, text: str, translation: str) -> None:
    assert check in alarms(kind, text, translation)
