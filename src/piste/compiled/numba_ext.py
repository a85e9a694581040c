"""Teaches numba two methods of Python's whole numbers that rules use: how many bits are set, and the highest one."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def register() -> None:
    """Make `bit_count` and `bit_length` known, once; each is one instruction of the machine."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.core import types
    from numba.extending import intrinsic, overload_method

    def bits_set(context: Any, number: Any) -> Any:  # noqa: ARG001
        return types.int64(types.int64), lambda _, builder, __, given: builder.ctpop(given[0])

    def bits_needed(context: Any, number: Any) -> Any:  # noqa: ARG001
        def build(_: Any, builder: Any, __: Any, given: Any) -> Any:
            zeros = builder.ctlz(given[0], ir.Constant(ir.IntType(1), 0))
            return builder.sub(ir.Constant(given[0].type, 64), zeros)

        return types.int64(types.int64), build

    found_set: Any = intrinsic(bits_set)
    found_needed: Any = intrinsic(bits_needed)

    @overload_method(types.Integer, "bit_count")
    def bit_count(number: Any) -> Any:  # noqa: ARG001
        def found(number: Any) -> Any:
            return found_set(int(number))

        return found

    @overload_method(types.Integer, "bit_length")
    def bit_length(number: Any) -> Any:  # noqa: ARG001
        def found(number: Any) -> Any:
            return found_needed(int(number))

        return found
