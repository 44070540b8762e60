"""Answers to the tasks of dates-and-units with integers only: no calendar of Python, no decimals."""

from __future__ import annotations

import re
from typing import Any

LENGTHS = {"mm": 10, "cm": 100, "m": 10_000, "km": 10_000_000, "in": 254, "ft": 3048, "mi": 16_093_440}  # 0.1 mm
MASSES = {"g": 16 * 10**5, "kg": 16 * 10**8, "lb": 16 * 45_359_237, "oz": 45_359_237}  # 1/16 of 0.01 mg
VOLUMES = {"l": 10**9, "gal": 231 * 254**3}  # 0.001 mm³
TIMES = {"s": 1, "min": 60, "h": 60 * 60, "d": 24 * 60 * 60}
SIZES = {"B": 1, "kB": 10**3, "MB": 10**6, "KiB": 2**10, "MiB": 2**20}
KELVINS = {"C": (1, 1, 27315), "F": (5, 9, 45967), "K": (1, 1, 0)}  # (amount + offset in hundredths) * 1st / 2nd


def is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def length(year: int, month: int) -> int:
    return 28 + is_leap(year) if month == 2 else 30 + (month + month // 8) % 2


def parts(text: str) -> tuple[int, int, int]:
    year, month, day = map(int, text.split("-"))
    if not (1 <= month <= 12 and 1 <= day <= length(year, month)):
        raise ValueError("no such date")
    return year, month, day


def number(text: str) -> int:
    """Return the days since 0000-12-31, so that 1 is a Monday."""
    year, month, day = parts(text)
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400
    return days + sum(length(year, one) for one in range(1, month)) + day


def text_of(days: int) -> str:
    year = month = 1
    while days > 365 + is_leap(year):
        days -= 365 + is_leap(year)
        year += 1
    while days > length(year, month):
        days -= length(year, month)
        month += 1
    return f"{year:04d}-{month:02d}-{days:02d}"


def add_months(data: Any) -> str:
    year, month, day = parts(data["date"])
    step = 1 if data["months"] > 0 else -1
    for _ in range(abs(data["months"])):
        month += step
        if month in (0, 13):
            year, month = year + step, 12 if month == 0 else 1
    return f"{year:04d}-{month:02d}-{min(day, length(year, month)):02d}"


def days_between(data: Any) -> int:
    return number(data["to"]) - number(data["from"])


def workdays(data: Any) -> int:
    start, end = number(data["from"]), number(data["to"])
    free = {number(day) for day in data["holidays"]}
    return len([day for day in range(start, end) if day % 7 not in (6, 0) and day not in free])


def iso_week(data: Any) -> str:
    """Find the Thursday of the same week: the week has its year."""
    day = number(data["date"])
    weekday = (day - 1) % 7 + 1
    thursday = day - weekday + 4
    year = int(text_of(thursday)[:4])
    week = (thursday - number(f"{year:04d}-01-01")) // 7 + 1
    return f"{year}-W{week:02d}-{weekday}"


def minutes_of(offset: str) -> int:
    hours, minutes = int(offset[1:3]), int(offset[4:6])
    return (hours * 60 + minutes) * (-1 if offset[0] == "-" else 1)


def to_offset(data: Any) -> str:
    time = data["time"]
    hour, minute, second = map(int, time[11:19].split(":"))
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError("no such time")
    total = number(time[:10]) * 1440 + hour * 60 + minute - minutes_of(time[19:]) + minutes_of(data["offset"])
    day, rest = divmod(total, 1440)
    return f"{text_of(day)}T{rest // 60:02d}:{rest % 60:02d}:{second:02d}{data['offset']}"


def add_durations(data: Any) -> str:
    total = 0
    for text in data["durations"]:
        day_part, _, clock = text.lstrip("-").removeprefix("P").partition("T")
        units = {"D": 86_400, "H": 3600, "M": 60, "S": 1}
        some = sum(int(amount) * units[unit] for amount, unit in re.findall(r"(\d+)([DHMS])", day_part + clock))
        total += -some if text.startswith("-") else some
    days, rest = abs(total) // 86_400, abs(total) % 86_400
    clock = "".join(
        f"{n}{unit}" for n, unit in zip((rest // 3600, rest // 60 % 60, rest % 60), "HMS", strict=True) if n
    )
    if not total:
        return "PT0S"
    return ("-P" if total < 0 else "P") + (f"{days}D" if days else "") + ("T" + clock if clock else "")


def next_weekday(data: Any) -> str:
    names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
    day = number(data["date"]) + 1
    while names[day % 7] != data["weekday"]:
        day += 1
    return text_of(day)


def convert(data: Any) -> str:
    """Compute numerator and denominator as integers, and divide once."""
    sign, whole, part = re.fullmatch(r"(-?)([0-9]+)(?:\.([0-9]+))?", data["amount"]).groups(default="")  # type: ignore[union-attr]
    above, below = int(whole + part) * (-1 if sign else 1), 10 ** len(part)
    one, other = data["from"], data["to"]
    if one in KELVINS and other in KELVINS:
        (by, of, offset), (to_by, to_of, to_offset) = KELVINS[one], KELVINS[other]
        above, below = (above * 100 + offset * below) * by * to_of, below * 100 * of * to_by
        above, below = above * 100 - to_offset * below, below * 100
    else:
        kinds = [kind for kind in (LENGTHS, MASSES, VOLUMES, TIMES, SIZES) if one in kind and other in kind]
        if not kinds:
            raise ValueError("of different kinds")
        above, below = above * kinds[0][one], below * kinds[0][other]
    places = data["decimals"]
    rounded = (abs(above) * 10**places * 2 + below) // (below * 2)
    digits = str(rounded)
    while len(digits) <= places:
        digits = "0" + digits
    text = digits[: len(digits) - places] + ("." + digits[len(digits) - places :] if places else "")
    return "-" + text if above < 0 and rounded else text


SOLVERS = {
    "add-months": add_months,
    "days-between": days_between,
    "workdays": workdays,
    "iso-week": iso_week,
    "to-offset": to_offset,
    "add-durations": add_durations,
    "next-weekday": next_weekday,
    "convert": convert,
}
