package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/BurntSushi/toml"
)

// largestFile bounds what one mistake in a path can cost.
const largestFile = 4 << 20

// document is one file as it was decoded.
type document struct {
	position
	values map[string]any
}

// readDocument reads the file at path, which is shown to people as it is given.
func readDocument(path string) (*document, Problems) {
	text, err := readFile(path)
	if err != nil {
		return nil, Problems{{File: path, Message: "cannot read the file: " + err.Error()}}
	}
	return parseDocument(path, text)
}

func parseDocument(path, text string) (*document, Problems) {
	d := &document{values: map[string]any{}}
	d.file = path
	if dir, err := filepath.Abs(filepath.Dir(path)); err == nil {
		d.dir = dir
	}
	if _, err := toml.Decode(text, &d.values); err != nil {
		return nil, Problems{syntaxProblem(path, text, err)}
	}
	d.lines = indexLines(text)
	return d, nil
}

func readFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", plainReason(err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, largestFile+1))
	switch {
	case err != nil:
		return "", plainReason(err)
	case len(content) > largestFile:
		return "", fmt.Errorf("it is larger than %d MiB", largestFile>>20)
	}
	return string(content), nil
}

// plainReason leaves out the path, which every problem names anyway.
func plainReason(err error) error {
	if pathErr, ok := errors.AsType[*os.PathError](err); ok {
		return pathErr.Err
	}
	return err
}
