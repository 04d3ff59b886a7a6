//go:build !linux

package failover

import "syscall"

// goesWithParent is for Linux: elsewhere nodes outlive a process that is killed.
func goesWithParent() *syscall.SysProcAttr { return nil }
