"""A numba extension: the methods `bit_count` and `bit_length` of int, which the rules use."""

from __future__ import annotations

from functools import cache
from typing import Any

SLOW_PDEP = ("znver1", "znver2", "bdver4")
"""Processors that have this instruction, but take as long for it as a loop would."""


@cache
def intrinsics() -> dict[str, Any]:
    """Return what stands for functions of `core.bits` and `core.observation` when they are compiled.

    Each does the same in fewer instructions: the processor's own for the n-th bit of a set, if it has a fast one; and
    those that write many numbers of an observation at once, which the compiler does not find by itself.
    """
    from llvmlite import binding  # type: ignore[import-untyped]
    from numba.core import types
    from numba.extending import intrinsic

    def nth(context: Any, cards: Any, n: Any) -> Any:  # noqa: ARG001
        return types.int64(types.int64, types.int64), _nth_bit

    def put_flags(context: Any, lines: Any, row: Any, at: Any, size: Any, bits: Any) -> Any:  # noqa: ARG001
        return types.void(lines, row, at, size, types.int64), _put_fields(lines, size, 1)

    def put_counts(context: Any, lines: Any, row: Any, at: Any, size: Any, share: Any, lanes: Any) -> Any:  # noqa: ARG001
        return types.void(lines, row, at, size, types.float64, types.int64), _put_fields(lines, size, 4)

    functions = [put_flags, put_counts]
    if binding.get_host_cpu_features().get("bmi2") and binding.get_host_cpu_name() not in SLOW_PDEP:
        functions.append(nth)
    return {function.__name__: intrinsic(prefer_literal=True)(function) for function in functions}


def _nth_bit(_: Any, builder: Any, __: Any, args: Any) -> Any:
    """Build the n-th bit of a set: put one bit in the place of the n-th, then ask for its number."""
    from llvmlite import ir

    cards, n = args
    word = cards.type
    deposit = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", fnty=ir.FunctionType(word, [word, word]))
    bit = builder.call(deposit, [builder.shl(word(1), n), cards])
    return builder.cttz(bit, ir.IntType(1)(1))


def _put_fields(lines: Any, size: Any, width: int) -> Any:
    """Return what builds code that writes the fields of a number, of `width` bits each, into a row.

    With a size that is known they are written all at once, else one after the other.
    """
    from llvmlite import ir
    from numba.core import cgutils as untyped
    from numba.core import types

    cgutils: Any = untyped

    def build(context: Any, builder: Any, _: Any, args: Any) -> Any:
        row, at, count = args[1:4]
        array = context.make_array(lines)(context, builder, args[0])
        place = cgutils.get_item_pointer(context, builder, lines, array, [row, at])
        if not isinstance(size, types.IntegerLiteral):
            with cgutils.for_range(builder, count) as loop:
                first = builder.mul(loop.index, loop.index.type(width))
                put(context, builder, builder.gep(place, [loop.index]), builder.lshr(args[-1], first), 1, args)
        else:
            for first in range(0, size.literal_value, 32 // width):
                n = min(32 // width, size.literal_value - first)
                number = builder.lshr(args[-1], args[-1].type(width * first))
                put(context, builder, builder.gep(place, [args[-1].type(first)]), number, n, args)
        return context.get_dummy_value()

    def put(context: Any, builder: Any, place: Any, number: Any, n: int, args: Any) -> None:
        def vector(element: Any) -> Any:
            return ir.VectorType(element, n)

        def repeated(value: Any) -> Any:
            nothing = vector(value.type)(ir.Undefined)
            one = builder.insert_element(nothing, value, small(0))
            return builder.shuffle_vector(one, nothing, vector(small)([0] * n))

        small, element = ir.IntType(32), context.get_data_type(lines.dtype)
        number = builder.trunc(number, small)
        shifted = builder.lshr(repeated(number), vector(small)([width * i for i in range(n)]))
        values = builder.and_(shifted, vector(small)([(1 << width) - 1] * n))
        if len(args) == 6:  # a share is given
            values = builder.fmul(builder.sitofp(values, vector(ir.DoubleType())), repeated(args[4]))
            values = builder.fptrunc(values, vector(element))
        elif isinstance(element, ir.FloatType):
            values = builder.sitofp(values, vector(element))
        else:
            values = builder.trunc(values, vector(element))
        builder.store(values, builder.bitcast(place, vector(element).as_pointer()), align=1)

    return build


@cache
def register() -> None:
    """Register both methods, once; each compiles to one machine instruction."""
    from llvmlite import ir
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
