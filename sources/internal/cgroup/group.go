// Package cgroup reads the CPU and memory counters of control groups, of either version.
package cgroup

import (
	"errors"
	"time"
)

// BufferSize is more than any file of a control group that is read.
const BufferSize = 32 << 10

// ErrNotAccounted says that the machine does not count the memory of the group.
var ErrNotAccounted = errors.New("this machine does not account for the memory of the control group")

// Group is the counters of one control group. Its files stay open until Close.
type Group struct {
	cpu, memory, stat file
	names             *Names
}

// Enter takes the group in the folders of the two hierarchies; memory is empty where it is not
// accounted for.
func (g *Group) Enter(cpu, memory string, n *Names, b *Budget) {
	g.Close(b)
	g.names = n
	g.cpu.path, g.memory.path, g.stat.path = cpu+"/"+n.CPU, "", ""
	if memory != "" {
		g.memory.path = memory + "/" + n.Memory
		g.stat.path = memory + "/" + n.memoryStat
	}
}

// Close closes the files. Reading opens them again.
func (g *Group) Close(b *Budget) {
	g.cpu.close(b)
	g.memory.close(b)
	g.stat.close(b)
}

// CPU reads the CPU time used since the group was made; false if the counter says nothing. The
// error is ErrGone when the group is not there any more.
func (g *Group) CPU(b *Budget, buffer []byte) (used time.Duration, ok bool, err error) {
	text, err := g.cpu.read(b, buffer)
	if err != nil {
		return 0, false, err
	}
	count, ok := counterOf(text)
	if g.names.cpuField != "" {
		count, ok = fieldOf(text, g.names.cpuField)
	}
	if !ok {
		return 0, false, nil
	}
	used, ok = CPUTime(count, g.names.cpuUnit)
	return used, ok, nil
}

// Memory reads the working set in bytes; false if the counters say nothing. The error is ErrGone
// when the group is not there any more.
func (g *Group) Memory(b *Budget, buffer []byte) (bytes uint64, ok bool, err error) {
	if g.memory.path == "" {
		return 0, false, ErrNotAccounted
	}
	text, err := g.memory.read(b, buffer)
	if err != nil {
		return 0, false, err
	}
	usage, ok := counterOf(text)
	if text, err = g.stat.read(b, buffer); err != nil {
		return 0, false, err
	}
	inactive, ok2 := fieldOf(text, g.names.inactiveFile)
	set, ok3 := WorkingSet(usage, inactive)
	return set, ok && ok2 && ok3, nil
}
