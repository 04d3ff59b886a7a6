package failover

import "syscall"

// goesWithParent lets the system kill a node when this process is no more, however that came to be: nobody
// else would.
func goesWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
