package command

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
)

// Command is a command that can be run, also several times at once.
type Command struct {
	program string // absolute
	opts    Options
}

// Options returns the options of the command.
func (c *Command) Options() Options { return c.opts }

// String is the program as errors show it: quoted, and without arguments, which may be long.
func (c *Command) String() string { return strconv.Quote(c.program) }

// Program is the absolute path of the program.
func (c *Command) Program() string { return c.program }

// Fingerprint is the same for options that mean the same command, however they are written: what
// is run, where, and with which variables of env.
func (c *Command) Fingerprint() string {
	canonical := struct {
		Program, Directory string
		Arguments          []string
		Env                map[string]string
	}{c.program, string(c.opts.WorkingDirectory), c.opts.Command[1:], nil}
	if len(c.opts.Env) > 0 {
		canonical.Env = c.opts.Env
	}
	// Strings can always be written; the keys of a map are sorted.
	text, _ := json.Marshal(canonical)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// passed are the variables of hpad's own environment that every command gets: what a program needs
// to find others, its home, its language and its time. Secrets and systemd's sockets are not among
// them.
var passed = [...]string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TMPDIR"}

// environment is the whole environment of a run. Later entries win.
func (c *Command) environment(more map[string]string) []string {
	var all []string
	for _, name := range slices.Concat(passed[:], c.opts.PassEnv) {
		if value, set := os.LookupEnv(name); set {
			all = append(all, name+"="+value)
		}
	}
	for _, env := range []map[string]string{c.opts.Env, more} {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			all = append(all, name+"="+env[name])
		}
	}
	return all
}

func index(i int) string { return fmt.Sprintf("[%d]", i) }
