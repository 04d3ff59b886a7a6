package rowenc

import "context"

func (w wrapped[T]) UnwrapAny(context.Context) (any, error)          { return w.v, nil }
func (w wrapped[T]) Unwrap(context.Context) (T, error)               { return w.v, nil }
func (w wrapped[T]) IsExactLength() bool                             { return false }
func (w wrapped[T]) MaxByteLength() int64                            { return 2 }
func (w wrapped[T]) Compare(context.Context, any) (int, bool, error) { return 0, false, nil }
func (w wrapped[T]) Hash() any                                       { return nil }
