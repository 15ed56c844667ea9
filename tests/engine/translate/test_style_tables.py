"""What checks of style know of words: numbers, units, particles, lengths, letters of scripts."""

import pytest

from recipe_gallery.languages import Language
from recipe_gallery.translate.catalogs import Kind
from recipe_gallery.translate.checks.message import Message
from recipe_gallery.translate.checks.scripts import SCRIPTS, known_ideographs
from recipe_gallery.translate.checks.style.content import check_length, find_pasted
from recipe_gallery.translate.checks.style.number_words import (
    find_english,
    find_numbers,
    find_words,
    is_count,
    says_half,
)
from recipe_gallery.translate.checks.style.numbers import check_numbers
from recipe_gallery.translate.checks.style.words import check_particle


def message(text: str, translation: str, code: str = "ko", kind: Kind = Kind.PROSE) -> Message:
    language = Language(code=code, name=code, glue=True)
    return Message(text=text, translation=translation, kind=kind, language=language)


# Numbers

ENGLISH = {
    **{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7},
    **{"eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13},
    **{"fourteen": 14, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60},
    **{"seventy": 70, "eighty": 80, "ninety": 90, "both": 2, "twice": 2, "Twenty-four": 24},
    **{"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000},
    **{"two hundred": 200, "two hundred five": 205, "two hundred thousand": 200_000},
    "three million four thousand six": 3_004_006,
}
KOREAN = {
    **{"두 개": 2, "둘": 2, "세 개": 3, "셋": 3, "네 개": 4, "넷": 4, "다섯": 5, "여섯": 6},
    **{"일곱": 7, "여덟": 8, "아홉": 9, "열 개": 10, "열한 개": 11, "열하나": 11, "열두 개": 12},
    **{"열둘": 12, "스무 개": 20, "스물": 20},
}
CHINESE = {
    **{"二次": 2, "两次": 2, "三次": 3, "四次": 4, "五次": 5, "六次": 6, "七次": 7, "八次": 8},
    **{"九次": 9, "十次": 10, "十二次": 12, "二十次": 20, "三十五次": 35},
}
SCALED = {
    **{"3천": 3_000, "3만": 30_000, "3백만": 3_000_000, "3억": 300_000_000, "3조": 3 * 10**12},
    **{"3千": 3_000, "3万": 30_000, "3百万": 3_000_000, "3亿": 300_000_000, "3萬": 30_000},
    **{"3億": 300_000_000, "3 thousand": 3_000, "3 million": 3_000_000, "3 billion": 3 * 10**9},
    "3 만": 30_000,
}


def test_numbers_in_words_are_read() -> None:
    for words, value in ENGLISH.items():
        assert find_english(f"It takes {words} of it.") == [(words, value)]
    for words, value in (KOREAN | CHINESE).items():
        assert [number for _word, number in find_words(words)] == [value], words
    assert list(find_words("一次, 모두 하나, 几百次, 열매, 세계")) == []


def test_numbers_are_found_in_order_with_their_places() -> None:
    assert find_numbers("3 and four, one of 1") == [("3", 0, 1), ("4", 6, 10)]
    assert find_numbers("세 개와 4.5, 两次") == [("3", 0, 1), ("4.5", 5, 8), ("2", 10, 11)]


def test_a_few_things_may_be_counted() -> None:
    numbers = ("0", "2", "10", "11", "100", "9" * 5000)
    counted = [number for number in numbers if is_count(number, "개")]
    assert counted == ["0", "2", "10"]
    assert all(is_count("2", word) for word in ("가지", " 번", "블록", "个", "秒"))
    assert not any(is_count("2", word) for word in ("", "X", " GB", "월"))


def test_words_for_half_are_known() -> None:
    assert [text for text in ("절반", "반으로", "一半", "셋") if says_half(text)] == [
        "절반",
        "반으로",
        "一半",
    ]


@pytest.mark.parametrize("said", SCALED)
def test_what_multiplies_a_number_counts(said: str) -> None:
    assert list(check_numbers(message(f"{SCALED[said]:,} of them.", f"{said} 개"))) == []
    (missing, added) = check_numbers(message(f"{SCALED[said] + 1:,} of them.", f"{said} 개"))
    assert missing == f"the number {SCALED[said] + 1} is missing; numbers stay as they are"
    assert added == "the number 3 is not in the source; numbers stay as they are"


UNITS = {
    **{"%": "퍼센트 프로", "°C": "도 摄氏度 度", "s": "초 秒", "ms": "밀리초 毫秒"},
    **{"µs": "마이크로초 微秒", "ns": "나노초 纳秒", "kB": "킬로바이트 千字节"},
    **{"MB": "메가바이트 兆字节", "GB": "기가바이트 吉字节", "TB": "테라바이트 太字节"},
    **{"Hz": "헤르츠 赫兹", "kHz": "킬로헤르츠 千赫", "MHz": "메가헤르츠 兆赫"},
    **{"GHz": "기가헤르츠 吉赫", "W": "와트 瓦"},
}


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_may_be_written_in_words(unit: str) -> None:
    for words in UNITS[unit].split():
        assert list(check_numbers(message(f"It is 4.5 {unit} here.", f"여기 4.5{words}"))) == []
    (said,) = check_numbers(message(f"It is 4.5 {unit} here.", "여기 4.5톤"))
    assert said == f"4.5 {unit}: the unit is missing or another; keep it"


def test_numbers_that_are_none_are_not_computed_with() -> None:
    for other in ("2.3.4", "2,3", "２３", "9" * 5000):
        said = list(check_numbers(message("It is 2.3 or 23.", f"{other} 또는 23")))
        assert said == [
            "the number 2.3 is missing; numbers stay as they are",
            f"the number {other} is not in the source; numbers stay as they are",
        ]


def test_a_count_is_told_where_a_number_is_missing() -> None:
    assert list(check_numbers(message("In 3 days.", "2번"))) == [
        "the number 3 is missing; numbers stay as they are",
        "the number 2 is not in the source; numbers stay as they are",
    ]


# Particles

FORMS = {
    "은": "는",
    "이": "가",
    "을": "를",
    "과": "와",
    "으로": "로",
}  # consonant: vowel
ENDINGS = {
    "closed": "x_0 x3 b6 LLVM CNN atom run padding scene",
    "l": "x1 x7 x8 HTML model module",
    "open": "x2 x4 x5 x9 GPU API data go memory repo cpu thread class buf conv quiz batch tensor "
    "parse size device state node TABLE",
    "": "SSR xSR os is_on stack cache is_up",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_particle_follows_the_sound_of_the_name(ending: str) -> None:
    for name in ENDINGS[ending].split():
        for closed, open_ in FORMS.items():
            right = {closed, open_}
            if ending:
                right = {open_ if ending == "open" or (ending == "l" and open_ == "로") else closed}
            told = {form: list(check_particle(message("x", f"``{name}``{form}"))) for form in
                    (closed, open_)}  # fmt: skip
            for form, said in told.items():
                wanted = "".join(right)
                expected = [f"{name}{form}: the particle is {wanted} after this name"]
                assert said == ([] if form in right else expected), name


# Lengths


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("ko", [(150, 0.34, 1.0), (80, 0.3, 1.2), (40, 0.24, 1.3)]),
        ("zh_CN", [(150, 0.26, 0.95), (80, 0.23, 1.1), (40, 0.19, 1.2)]),
        ("zh_TW", [(150, 0.26, 0.95), (80, 0.23, 1.1), (40, 0.19, 1.2)]),
    ],
)
def test_a_translation_is_as_long_as_such_texts_are(
    code: str, rows: list[tuple[int, float, float]]
) -> None:
    def said(letters: int, translated: int, ends: str = "") -> str:
        # spaces and marks do not count
        text, translation = "a b" * (letters // 2) + "c" * (letters % 2), "가" * translated
        found = list(check_length(message(text + ends, f"{translation}. - , ", code)))
        return found[0].partition(" than")[0] if found else ""

    for letters, least, most in rows:
        for length in (letters, letters + 20):
            low, high = round(least * length + 0.4999), int(most * length)
            assert said(length, low - 2) == "much shorter"
            assert said(length, low + 1) == said(length, high - 1) == ""
            assert said(length, high + 2) == "much longer"
        # a sentence less may be one that was joined: a quarter more is asked for
        low = round(1.25 * least * letters)
        assert said(letters, low - 2, ends=". d. e.") == "much shorter"
        assert said(letters, low + 3, ends=". d. e.") == ""
    assert said(39, 1) == ""


def test_a_length_at_the_bounds_is_right() -> None:
    for translated in (51, 150):  # 0.34 and 1.0 for one of 150
        assert list(check_length(message("a" * 150, "가" * translated))) == []


def test_nothing_is_said_of_lengths_in_a_language_that_nobody_measured() -> None:
    assert SCRIPTS["Latn"].density == ()
    assert list(check_length(message("It is one of many. " * 9, "Ja.", "de"))) == []


# Sentences of a neighbour


def pasted(*rows: tuple[str, str]) -> list[tuple[int, str]]:
    return list(find_pasted([(n, message(*row)) for n, row in enumerate(rows, start=10)]))


def test_only_neighbours_and_long_sentences_are_told_as_pasted() -> None:
    said = "커널 하나가 입력을 모두 읽어서 출력을 모두 쓰고 나서 끝납니다."
    others = [(f"Row {word}.", f"{word} 번째") for word in ("a", "b", "c")]
    near = pasted(("It reads.", said), *others[:2], ("It ends.", said))
    assert near == [
        (
            13,
            "has a sentence of line 10, whose English is another: "
            f"{said[:30]}; translate each of the two",
        )
    ]
    assert pasted(("It reads.", said), *others, ("It ends.", said)) == []
    assert pasted(("It is.", "가나다라마바사아자차."), ("Or so.", "가나다라마바사아자차."))
    assert not pasted(("It is.", "가나다라마바사아자."), ("Or so.", "가나다라마바사아자."))
    literal = "``torch.compiler.reset`` 참고."
    assert not pasted(("It is.", literal), ("Or so.", literal))
    assert pasted(("It is.", said), ("Or so.", said), ("More.", said))[1][0] == 12
    short = "``x`` 가나다라마바사아."
    assert not pasted(("It is.", short), ("Or so.", short))
    assert not pasted(("It reads. Fast.", said), ("It reads", said))
    # what stands too far below says nothing
    assert pasted(("It is.", said), ("Or so.", said), *others, ("Or so.", said))[0][0] == 11


# Letters


def test_characters_of_a_script_are_those_of_its_charset() -> None:
    simplified, traditional = known_ideographs("gb2312"), known_ideographs("cp950")
    assert {"一", "结", "体"} <= simplified
    assert {"一", "結", "體"} <= traditional
    assert not {"結", "體"} & simplified
    assert "结" not in traditional
