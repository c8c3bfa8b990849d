package process

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/hpad/hpad/internal/options"
)

// Words for where output goes; everything else is the path of a file.
const (
	outputLog     = "log"
	outputDiscard = "discard"
)

// outlet takes what a process writes.
type outlet interface {
	// attach makes the output of a command go there.
	attach(cmd *exec.Cmd)
	// begin is called once the command was started, or could not be.
	begin()
	// end is called when the process has ended.
	end()
}

// newOutlet opens what the output of the instance of that number goes to.
func (s *settings) newOutlet(number int, log *slog.Logger) (outlet, error) {
	switch s.Output {
	case outputLog:
		return newOutput(log)
	case outputDiscard:
		return &fileOutlet{}, nil
	}
	path := strings.ReplaceAll(s.Output, instanceWord, strconv.Itoa(number))
	file, err := openOutput(path)
	if err != nil {
		return nil, fmt.Errorf("cannot open its output: %w", err)
	}
	return &fileOutlet{file}, nil
}

// openOutput opens a file for appending. It follows no link and waits for nobody at the other end
// of a pipe: the folder may be writable for the user the instances run as, while hpad is root.
func openOutput(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o640)
	if err != nil {
		return nil, err
	}
	stat, err := file.Stat()
	if err == nil && !stat.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// fileOutlet is a file, or nothing at all.
type fileOutlet struct{ file *os.File }

func (f *fileOutlet) attach(cmd *exec.Cmd) {
	if f.file != nil {
		cmd.Stdout, cmd.Stderr = f.file, f.file
	}
}

func (f *fileOutlet) begin() {
	if f.file != nil {
		_ = f.file.Close()
	}
}

func (*fileOutlet) end() {}

// checkOutput makes sure that output can go where it is to go, as far as that is known.
func (s *settings) checkOutput() error {
	switch {
	case s.Output == outputLog || s.Output == outputDiscard:
		return nil
	case !filepath.IsAbs(s.Output) || strings.HasSuffix(s.Output, "/") || strings.ContainsRune(s.Output, 0):
		return options.Errorf("output", `must be "log", "discard" or the absolute path of a file, is %s`, options.Show(s.Output))
	}
	folder := filepath.Dir(s.Output)
	if strings.Contains(folder, instanceWord) {
		return nil
	}
	stat, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !stat.IsDir() {
		return options.Errorf("output", "there is no folder %q", folder)
	}
	return nil
}
