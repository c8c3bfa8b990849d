package process

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/hpad/hpad/internal/options"
)

// bindingOptions is the table of a workload's target.
type bindingOptions struct {
	Command          []string          `toml:"command" doc:"the program and its arguments; required. A program with a slash is relative to the file it is configured in, one without is looked up in PATH; ${HPAD} is hpad's own. In arguments {instance} and {port} stand for the instance's number and port"`
	Env              map[string]string `toml:"env" doc:"more environment variables; {instance} and {port} as in arguments"`
	WorkingDirectory options.Path      `toml:"working_directory" doc:"where the command runs; hpad's own working directory if not set"`
	User             string            `toml:"user" doc:"name or id of the user the command runs as, with its groups; hpad must be root for this"`
	Replicas         int32             `toml:"replicas" doc:"how many run before the first decision"`
	Port             int               `toml:"port" doc:"instance N gets this port + N - 1 in HPAD_PORT"`
	RestartBackoff   options.Duration  `toml:"restart_backoff" doc:"the pause before a command that has ended is started again; doubles each time"`
	RestartMax       options.Duration  `toml:"restart_backoff_max" doc:"the longest pause"`
	HealthyAfter     options.Duration  `toml:"healthy_after" doc:"after running for so long the pauses begin anew"`
	StopSignal       string            `toml:"stop_signal" doc:"what asks an instance to stop; sent to its whole process group"`
	StopGrace        options.Duration  `toml:"stop_grace" doc:"after so long, what has not stopped is killed"`
	ReadyHTTP        string            `toml:"ready_http" doc:"path on 127.0.0.1 and the instance's port; the instance is ready from the first status 200 to 399 on, until three answers in a row are none. It is asked every second, and every 10 seconds while all is well. Without it an instance is ready while it runs"`
	Output           string            `toml:"output" doc:"where standard output and error go: log (hpad's own), discard, or the absolute path of a file, in which {instance} stands for the instance's number"`
}

func defaults() bindingOptions {
	return bindingOptions{
		Replicas:       1,
		RestartBackoff: options.Duration(time.Second),
		RestartMax:     options.Duration(time.Minute),
		HealthyAfter:   options.Duration(10 * time.Second),
		StopSignal:     "SIGTERM",
		StopGrace:      options.Duration(10 * time.Second),
		Output:         outputLog,
	}
}

// settings are the options of a target, checked.
type settings struct {
	bindingOptions
	program string // absolute
	signal  syscall.Signal
	account *account // nil for hpad's own
}

const maxPort = 1<<16 - 1

// read decodes and checks a table. It finds everything that is wrong with it.
func read(table options.Table) (*settings, error) {
	set := &settings{bindingOptions: defaults()}
	if err := table.Decode(&set.bindingOptions); err != nil {
		return nil, err
	}
	errs := []error{
		set.findProgram(table.Dir()), set.checkWords(), set.findUser(), set.checkDirectory(),
		set.checkNumbers(), set.checkReadiness(), set.checkOutput(),
	}
	var known bool
	if set.signal, known = signalNumber(set.StopSignal); !known {
		errs = append(errs, options.Errorf("stop_signal", "must be a signal such as \"SIGTERM\" or \"SIGINT\", is %s", options.Show(set.StopSignal)))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return set, nil
}

func (s *settings) checkDirectory() error {
	if s.WorkingDirectory == "" {
		return nil
	}
	folder, err := os.Stat(string(s.WorkingDirectory))
	if err != nil {
		return options.Errorf("working_directory", "cannot be used: %v", err)
	}
	if !folder.IsDir() {
		return options.Errorf("working_directory", "must be a folder, %q is none", s.WorkingDirectory)
	}
	return nil
}

func (s *settings) checkNumbers() error {
	var errs []error
	if s.Replicas < 0 {
		errs = append(errs, options.Errorf("replicas", "must be >= 0, is %d", s.Replicas))
	}
	if s.Port < 0 || s.Port > maxPort {
		errs = append(errs, options.Errorf("port", "must be from 1 to %d, is %d", maxPort, s.Port))
	} else if int(s.Replicas) > s.mostReplicas() {
		errs = append(errs, options.Errorf("replicas", "must be <= %d with port %d, is %d", s.mostReplicas(), s.Port, s.Replicas))
	}
	if s.RestartBackoff <= 0 {
		errs = append(errs, options.Errorf("restart_backoff", "must be > 0s, is %v", s.RestartBackoff))
	}
	if s.RestartMax < s.RestartBackoff {
		errs = append(errs, options.Errorf("restart_backoff_max", "must be >= restart_backoff %v, is %v", s.RestartBackoff, s.RestartMax))
	}
	if s.HealthyAfter < 0 {
		errs = append(errs, options.Errorf("healthy_after", "must be >= 0s, is %v", s.HealthyAfter))
	}
	if s.StopGrace < 0 {
		errs = append(errs, options.Errorf("stop_grace", "must be >= 0s, is %v", s.StopGrace))
	}
	return errors.Join(errs...)
}

// mostReplicas is how many instances there are ports for.
func (s *settings) mostReplicas() int {
	if s.Port == 0 {
		return 1<<31 - 1
	}
	return maxPort - s.Port + 1
}

func (s *settings) checkReadiness() error {
	switch {
	case s.ReadyHTTP == "":
		return nil
	case !strings.HasPrefix(s.ReadyHTTP, "/") || strings.ContainsAny(s.ReadyHTTP, " \t\r\n#"):
		return options.Errorf("ready_http", "must be a path such as \"/healthz\", is %s", options.Show(s.ReadyHTTP))
	case s.Port == 0:
		return options.Errorf("ready_http", "needs port, which is not set")
	}
	return nil
}
