// Package command runs a command of the operator's for one answer: its input is given whole, its
// output is read whole, and both its time and its output are bounded. There is no shell in between.
package command

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hpad/hpad/internal/options"
)

// Options are the keys of the table of a driver that runs a command.
type Options struct {
	Command          []string          `toml:"command" doc:"the program and its arguments (required). No shell reads them. A program with a slash is relative to the file it is configured in, one without is looked up in PATH"`
	Timeout          options.Duration  `toml:"timeout" doc:"longest run; then the command's whole process group is killed"`
	MaxOutputBytes   int64             `toml:"max_output_bytes" doc:"largest answer, in bytes"`
	Env              map[string]string `toml:"env" doc:"environment variables of the command"`
	PassEnv          []string          `toml:"pass_env" doc:"names of variables of hpad's own environment that the command gets too, as \"CREDENTIALS_DIRECTORY\""`
	WorkingDirectory options.Path      `toml:"working_directory" doc:"where the command runs; the folder of the configuration file if not set"`
}

// Defaults are the Options of an empty table.
func Defaults() Options {
	return Options{Timeout: options.Duration(10 * time.Second), MaxOutputBytes: 1 << 20}
}

const (
	longestTimeout = 10 * time.Minute
	largestOutput  = 1 << 30
)

// own begins the names of the variables that hpad itself sets.
const own = "HPAD_"

// New checks the options, offline, and returns the Command they mean. Dir is the folder of the file
// they stand in. Errors are option errors, all of them joined.
func New(o Options, dir string) (*Command, error) {
	if !supported {
		return nil, options.Errorf("driver", "commands are run on Linux only")
	}
	program, err := findProgram(o.Command, dir)
	errs := []error{err, o.checkWords(), o.checkBounds()}
	if o.WorkingDirectory == "" {
		o.WorkingDirectory = options.Path(dir)
	}
	folder, err := os.Stat(string(o.WorkingDirectory))
	switch {
	case err != nil:
		errs = append(errs, options.Errorf("working_directory", "cannot be used: %v", err))
	case !folder.IsDir():
		errs = append(errs, options.Errorf("working_directory", "must be a folder, %q is none", o.WorkingDirectory))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Command{program: program, opts: o}, nil
}

// findProgram settles which file is run.
func findProgram(command []string, dir string) (string, error) {
	if len(command) == 0 || command[0] == "" {
		return "", options.Errorf("command", `is missing, must be a program and its arguments, such as ["/usr/local/bin/pool"]`)
	}
	name := command[0]
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		var cause *exec.Error
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return "", options.Errorf("command[0]", "cannot run %q: %v", name, err)
	}
	return path, nil
}

func (o *Options) checkWords() error {
	var errs []error
	for i, word := range o.Command {
		if strings.ContainsRune(word, 0) {
			errs = append(errs, options.Errorf(options.JoinKey("command", index(i)), "must not hold a zero byte"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Env)) {
		key := options.JoinKey("env", options.Quote(name))
		errs = append(errs, checkName(key, name))
		if strings.ContainsRune(o.Env[name], 0) {
			errs = append(errs, options.Errorf(key, "must not hold a zero byte"))
		}
	}
	for i, name := range o.PassEnv {
		errs = append(errs, checkName(options.JoinKey("pass_env", index(i)), name))
	}
	return errors.Join(errs...)
}

func checkName(key, name string) error {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00"):
		return options.Errorf(key, "must be the name of a variable")
	case strings.HasPrefix(name, own):
		return options.Errorf(key, "is set by hpad")
	}
	return nil
}

func (o *Options) checkBounds() error {
	var errs []error
	if o.Timeout <= 0 || o.Timeout.Std() > longestTimeout {
		errs = append(errs, options.Errorf("timeout", "must be more than 0 and at most %v, is %v", options.Duration(longestTimeout), o.Timeout))
	}
	if o.MaxOutputBytes < 1 || o.MaxOutputBytes > largestOutput {
		errs = append(errs, options.Errorf("max_output_bytes", "must be 1 … %d, is %d", largestOutput, o.MaxOutputBytes))
	}
	return errors.Join(errs...)
}
