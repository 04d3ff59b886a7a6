package raft

import "fmt"

// quiet is the library's logger: what it has to tell is in the driver's events, and what it cannot survive is a panic.
type quiet struct{}

func (quiet) Debug(...any)            {}
func (quiet) Debugf(string, ...any)   {}
func (quiet) Info(...any)             {}
func (quiet) Infof(string, ...any)    {}
func (quiet) Warning(...any)          {}
func (quiet) Warningf(string, ...any) {}
func (quiet) Error(...any)            {}
func (quiet) Errorf(string, ...any)   {}

func (quiet) Fatal(v ...any)                 { panic("raft: " + fmt.Sprint(v...)) }
func (quiet) Fatalf(format string, v ...any) { panic("raft: " + fmt.Sprintf(format, v...)) }
func (quiet) Panic(v ...any)                 { panic("raft: " + fmt.Sprint(v...)) }
func (quiet) Panicf(format string, v ...any) { panic("raft: " + fmt.Sprintf(format, v...)) }
