//go:build !linux

package command

import "syscall"

// Elsewhere a command could outlive hpad, so none is run.
const supported = false

func attributes() *syscall.SysProcAttr { return nil }

func waitEnd(int) {}

func killGroup(int) {}
