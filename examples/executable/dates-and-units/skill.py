"""Calculates with dates, durations and units: one function for each operation."""

import calendar
import json
import re
import sys
from datetime import date, datetime, timedelta
from fractions import Fraction

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
UNITS = {  # what it measures, and how many metres, kilograms, litres, seconds or bytes it is
    "mm": ("length", "0.001"),
    "cm": ("length", "0.01"),
    "m": ("length", "1"),
    "km": ("length", "1000"),
    "in": ("length", "0.0254"),
    "ft": ("length", "0.3048"),
    "mi": ("length", "1609.344"),
    "g": ("mass", "0.001"),
    "kg": ("mass", "1"),
    "oz": ("mass", "0.028349523125"),
    "lb": ("mass", "0.45359237"),
    "l": ("volume", "1"),
    "gal": ("volume", "3.785411784"),
    "s": ("time", "1"),
    "min": ("time", "60"),
    "h": ("time", "3600"),
    "d": ("time", "86400"),
    "B": ("data", "1"),
    "kB": ("data", "1000"),
    "MB": ("data", "1000000"),
    "KiB": ("data", "1024"),
    "MiB": ("data", "1048576"),
}
SCALES = {"C": (Fraction(1), Fraction("273.15")), "F": (Fraction(5, 9), Fraction("459.67")), "K": (Fraction(1), 0)}


def add_months(data):
    start = date.fromisoformat(data["date"])
    months = start.year * 12 + start.month - 1 + data["months"]
    year, month = divmod(months, 12)
    return date(year, month + 1, min(start.day, calendar.monthrange(year, month + 1)[1])).isoformat()


def days_between(data):
    return (date.fromisoformat(data["to"]) - date.fromisoformat(data["from"])).days


def workdays(data):
    start, end = date.fromisoformat(data["from"]), date.fromisoformat(data["to"])
    days = (start + timedelta(days=number) for number in range((end - start).days))
    return sum(day.weekday() < 5 and day.isoformat() not in data["holidays"] for day in days)


def iso_week(data):
    year, week, day = date.fromisoformat(data["date"]).isocalendar()
    return f"{year}-W{week:02d}-{day}"


def to_offset(data):
    moved = datetime.fromisoformat(data["time"])
    return moved.astimezone(datetime.fromisoformat(f"2000-01-01T00:00:00{data['offset']}").tzinfo).isoformat()


def add_durations(data):
    total = 0
    for text in data["durations"]:
        found = re.fullmatch(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?", text)
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:])
        total += (-1 if found[1] else 1) * (((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    minutes, seconds = divmod(abs(total), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    clock = "".join(f"{number}{unit}" for number, unit in ((hours, "H"), (minutes, "M"), (seconds, "S")) if number)
    text = (f"{days}D" if days else "") + (f"T{clock}" if clock else "")
    return ("-" if total < 0 else "") + "P" + (text or "T0S")


def next_weekday(data):
    start = date.fromisoformat(data["date"])
    ahead = (DAYS.index(data["weekday"]) - start.weekday() - 1) % 7 + 1
    return (start + timedelta(days=ahead)).isoformat()


def convert(data):
    amount, one, other = Fraction(data["amount"]), data["from"], data["to"]
    if one in SCALES and other in SCALES:
        (size, offset), (wanted, shift) = SCALES[one], SCALES[other]
        exact = (amount + offset) * size / wanted - shift
    elif one in UNITS and other in UNITS and UNITS[one][0] == UNITS[other][0]:
        exact = amount * Fraction(UNITS[one][1]) / Fraction(UNITS[other][1])
    else:
        raise ValueError(f"{one} cannot be converted to {other}")
    return rounded(exact, data["decimals"])


def rounded(exact, decimals):
    whole = int(abs(exact) * 10**decimals + Fraction(1, 2))
    digits = str(whole).zfill(decimals + 1)
    text = f"{digits[:-decimals]}.{digits[-decimals:]}" if decimals else digits
    return f"-{text}" if whole and exact < 0 else text


OPERATIONS = {
    "add-months": add_months,
    "days-between": days_between,
    "workdays": workdays,
    "iso-week": iso_week,
    "to-offset": to_offset,
    "add-durations": add_durations,
    "next-weekday": next_weekday,
    "convert": convert,
}


def main():
    request = json.load(sys.stdin)
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    try:
        reply["result"] = OPERATIONS[request["params"]["operation"]](request["params"])
    except (KeyError, ValueError) as error:
        reply["error"] = {"code": -32602, "message": f"refused: {error}"}
    print(json.dumps(reply))


main()
