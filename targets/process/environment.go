package process

import (
	"maps"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

const (
	instanceVariable = "HPAD_INSTANCE"
	portVariable     = "HPAD_PORT"
	instanceWord     = "{instance}"
	portWord         = "{port}"
)

// account is a user that instances run as.
type account struct {
	name, home string
	uid, gid   uint32
	groups     []uint32
}

// findUser looks up the user and its groups. That hpad may change to it shows at the start: `hpad
// check` is run by people who are not root.
func (s *settings) findUser() error {
	if s.User == "" {
		return nil
	}
	found, err := user.Lookup(s.User)
	if err != nil {
		found, err = user.LookupId(s.User)
	}
	if err != nil {
		return options.Errorf("user", "there is no user %q", s.User)
	}
	texts, err := found.GroupIds()
	if err != nil {
		return options.Errorf("user", "cannot tell the groups of %q: %v", s.User, err)
	}
	ids := make([]uint32, 0, len(texts)+2)
	for _, text := range append([]string{found.Uid, found.Gid}, texts...) {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return options.Errorf("user", "cannot use %q: id %q is no number", s.User, text)
		}
		ids = append(ids, uint32(id))
	}
	s.account = &account{name: found.Username, home: found.HomeDir, uid: ids[0], gid: ids[1], groups: ids[2:]}
	return nil
}

// command is what runs as the instance of that number.
func (s *settings) command(number int) *exec.Cmd {
	words := strings.NewReplacer(instanceWord, strconv.Itoa(number))
	if s.Port > 0 {
		words = strings.NewReplacer(instanceWord, strconv.Itoa(number), portWord, strconv.Itoa(s.port(number)))
	}
	arguments := []string{s.program}
	for _, argument := range s.Command[1:] {
		arguments = append(arguments, words.Replace(argument))
	}
	return &exec.Cmd{
		Path:        s.program,
		Args:        arguments,
		Dir:         string(s.WorkingDirectory),
		Env:         s.environment(number, words),
		SysProcAttr: attributes(s.account),
	}
}

// port is the port of the instance of that number; 0 if ports are not given out.
func (s *settings) port(number int) int {
	if s.Port == 0 {
		return 0
	}
	return s.Port + number - 1
}

// environment is hpad's own without what is meant for hpad alone, and what the options say.
func (s *settings) environment(number int, words *strings.Replacer) []string {
	environment := slices.DeleteFunc(os.Environ(), forHpadAlone)
	if a := s.account; a != nil {
		environment = append(environment, "USER="+a.name, "LOGNAME="+a.name, "HOME="+a.home)
	}
	if s.WorkingDirectory != "" {
		environment = append(environment, "PWD="+string(s.WorkingDirectory))
	}
	environment = append(environment, instanceVariable+"="+strconv.Itoa(number))
	if s.Port > 0 {
		environment = append(environment, portVariable+"="+strconv.Itoa(s.port(number)))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		environment = append(environment, name+"="+words.Replace(s.Env[name]))
	}
	return environment
}

// forHpadAlone tells whether a variable is between systemd and hpad: where hpad's secrets are, its
// sockets, its watchdog. An instance that used them would speak for hpad.
func forHpadAlone(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	switch name {
	case "CREDENTIALS_DIRECTORY", "ENCRYPTED_CREDENTIALS_DIRECTORY", "NOTIFY_SOCKET", "JOURNAL_STREAM",
		"MAINPID", "MANAGERPID", "FDSTORE", instanceVariable, portVariable:
		return true
	}
	return strings.HasPrefix(name, "LISTEN_") || strings.HasPrefix(name, "WATCHDOG_")
}
