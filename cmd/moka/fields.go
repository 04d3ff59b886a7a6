package main

import (
	"fmt"
	"reflect"
	"time"

	"moka/kv"
)

type field struct {
	name, text string
	field      string // its name in the struct
	numeric    bool
	value      float64
}

// fields lists the exported fields of a metrics struct in order, numbers as numbers and durations in seconds.
func fields(m any) (fs []field) {
	v := reflect.ValueOf(m)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		t := v.Type().Field(i)
		if !t.IsExported() {
			continue
		}
		f := field{name: t.Name, field: t.Name, text: fmt.Sprint(v.Field(i).Interface())}
		switch x := v.Field(i); {
		case t.Type == reflect.TypeFor[kv.Timestamp]():
			f.numeric, f.value = true, float64(kv.Timestamp(x.Uint()).Physical())/1000
		case t.Type == reflect.TypeFor[time.Duration]():
			f.numeric, f.value, f.name = true, time.Duration(x.Int()).Seconds(), t.Name+"Seconds"
		case x.CanInt():
			f.numeric, f.value = true, float64(x.Int())
		case x.CanUint():
			f.numeric, f.value = true, float64(x.Uint())
		case x.CanFloat():
			f.numeric, f.value = true, x.Float()
		}
		fs = append(fs, f)
	}
	return fs
}
