"""A numba extension: the methods `bit_count` and `bit_length` of int, which the rules use."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def register() -> None:
    """Register both methods, once; each compiles to one machine instruction."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.core import types
    from numba.extending import intrinsic, overload_method

    def bits_set(context: Any, number: Any) -> Any:  # noqa: ARG001
        return types.int64(types.int64), lambda _, builder, __, args: builder.ctpop(args[0])

    def bits_needed(context: Any, number: Any) -> Any:  # noqa: ARG001
        def build(_: Any, builder: Any, __: Any, args: Any) -> Any:
            zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))
            return builder.sub(ir.Constant(args[0].type, 64), zeros)

        return types.int64(types.int64), build

    popcount: Any = intrinsic(bits_set)
    bit_width: Any = intrinsic(bits_needed)

    @overload_method(types.Integer, "bit_count")
    def bit_count(number: Any) -> Any:  # noqa: ARG001
        def implementation(number: Any) -> Any:
            return popcount(int(number))

        return implementation

    @overload_method(types.Integer, "bit_length")
    def bit_length(number: Any) -> Any:  # noqa: ARG001
        def implementation(number: Any) -> Any:
            return bit_width(int(number))

        return implementation
