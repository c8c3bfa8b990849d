//go:build !linux

package process

import "syscall"

// Elsewhere the kernel cannot be asked to kill instances with hpad, so the driver does not open.
const supported = false

func attributes(*account) *syscall.SysProcAttr { return nil }

func waitEnd(int) {}

func signalGroup(int, syscall.Signal) error { return nil }

func signalNumber(string) (syscall.Signal, bool) { return 0, false }
