"""The table that a matrix of cases with known answers prints."""
from __future__ import annotations


def print_table(title: str, width: int, rows: dict, worlds: list, wrong: list) -> int:
    """`rows`: kind -> world size -> [right, all]. Prints it, the sums and what was wrong; the exit code."""
    print(f"{title:{width}}" + "".join(f"{f'of {world}':>9}" for world in worlds))
    for kind, row in rows.items():
        print(f"{kind:{width}}" + "".join(f"{'{}/{}'.format(*row[w]) if w in row else '-':>9}" for w in worlds))
    total = [sum(cell[i] for row in rows.values() for cell in row.values()) for i in (0, 1)]
    print(f"{total[0]} of {total[1]} right")
    print("\n".join(wrong))
    return 1 if wrong else 0
