package process

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hpad/hpad/internal/options"
)

// ownProgram stands for the program that is hpad.
const ownProgram = "${HPAD}"

// findProgram settles which file is run.
func (s *settings) findProgram(dir string) error {
	if len(s.Command) == 0 || s.Command[0] == "" {
		return options.Errorf("command", "must name a program")
	}
	name := s.Command[0]
	if strings.Contains(name, ownProgram) {
		own, err := os.Executable()
		if err != nil {
			return options.Errorf("command[0]", "cannot tell which program hpad is: %v", err)
		}
		name = strings.ReplaceAll(name, ownProgram, own)
	}
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
		return options.Errorf("command[0]", "cannot run %q: %v", name, err)
	}
	s.program = path
	return nil
}

// checkWords checks what is given to the process as text.
func (s *settings) checkWords() error {
	var errs []error
	for i, argument := range s.Command {
		if i > 0 {
			errs = append(errs, s.checkWord(fmt.Sprintf("command[%d]", i), argument))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		key := options.JoinKey("env", options.Quote(name))
		switch {
		case name == "" || strings.ContainsAny(name, "=\x00"):
			errs = append(errs, options.Errorf(key, "must be the name of a variable"))
		case name == instanceVariable || name == portVariable:
			errs = append(errs, options.Errorf(key, "is set by hpad"))
		default:
			errs = append(errs, s.checkWord(key, s.Env[name]))
		}
	}
	return errors.Join(errs...)
}

func (s *settings) checkWord(key, word string) error {
	if strings.ContainsRune(word, 0) {
		return options.Errorf(key, "must not hold a zero byte")
	}
	if s.Port == 0 && strings.Contains(word, portWord) {
		return options.Errorf(key, "holds %s, but port is not set", portWord)
	}
	return nil
}

// id is the same for tables that mean the same processes, however they are written.
func (s *settings) id() string {
	canonical := struct {
		Command         []string
		Env             map[string]string
		Directory, User string
		Port            int
	}{slices.Concat([]string{s.program}, s.Command[1:]), s.Env, string(s.WorkingDirectory), s.User, s.Port}
	if s.account != nil {
		canonical.User = strconv.FormatUint(uint64(s.account.uid), 10)
	}
	if len(s.Env) == 0 {
		canonical.Env = nil
	}
	// Strings and numbers can always be written; the keys of a map are sorted.
	text, _ := json.Marshal(canonical)
	sum := sha256.Sum256(text)
	return "process:" + hex.EncodeToString(sum[:6])
}
