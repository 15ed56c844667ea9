from datetime import date

from sphinx_recorded_gallery.dates_and_numbers import (
    format_date,
    format_percent,
    join_names,
    typeset,
)
from sphinx_recorded_gallery.languages import find_locale


def test_dates_and_marks_follow_the_language() -> None:
    day = date(2026, 11, 21)
    assert format_date(day, find_locale("ko")) == "2026년\xa011월\xa021일"
    assert format_date(day, find_locale("en"), "medium") == "Nov\xa021,\xa02026"
    zh, made = find_locale("zh_CN"), "eager: 3 ms (2–4 ms), 6; 整体编译 的 1万"
    assert format_date(day, zh) == "2026\xa0年\xa011\xa0月\xa021\xa0日"
    assert typeset(made, zh) == "eager：3 ms（2–4 ms），6；整体编译的 1 万"
    assert typeset("版本是 2.15。 变化： ", zh) == "版本是 2.15。变化："
    assert typeset("缩短 8% （取决于机器） < 9%", zh) == "缩短 8%（取决于机器）< 9%"
    assert typeset("즉시 실행: 3 ms (2~4 ms)", find_locale("ko")) == "즉시 실행: 3 ms(2~4 ms)"
    assert typeset(" (GPU 시간", find_locale("ko")) == "(GPU 시간"  # what follows a figure
    assert typeset(made, find_locale("en")) == made
    shares = [format_percent(0.0616, find_locale(code), 1) for code in ("en", "ko", "de")]
    assert shares == ["6.2%", "6.2%", "6,2\xa0%"]


def test_names_in_a_row_have_the_mark_of_the_language() -> None:
    joined = {
        code: join_names(["a", "b", "c"], find_locale(code)) for code in ("en", "ko", "zh_CN")
    }
    assert joined == {"en": "a, b, c", "ko": "a, b, c", "zh_CN": "a、b、c"}
