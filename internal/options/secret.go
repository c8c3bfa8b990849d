package options

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

// redacted is how a secret looks, however it is printed.
const redacted = "<secret>"

// Secret is a secret that stands in a file, never in the configuration. Its key ends in "_file"
// (`password_file = "…"`); the path is relative to the folder of the configuration file, and may
// begin with ${CREDENTIALS_DIRECTORY} for a systemd credential. Nothing prints it.
type Secret struct {
	path string
}

// SecretFile is the Secret in the file at path.
func SecretFile(path string) Secret { return Secret{path: path} }

// IsSet tells whether the configuration names a file.
func (s Secret) IsSet() bool { return s.path != "" }

// Read returns the secret without the line end it may have. The file is read anew each time, so
// that a rotated secret needs no reload. The error names the file, never its content.
func (s Secret) Read() (string, error) {
	const largest = 64 << 10
	switch {
	case s.path == "":
		return "", errors.New("cannot read a secret: no file is configured")
	case strings.Contains(s.path, credentialsVariable):
		return "", fmt.Errorf("cannot read secret %q: CREDENTIALS_DIRECTORY is not set, as systemd does for LoadCredential=", s.path)
	}
	f, err := os.Open(s.path)
	if err != nil {
		return "", fmt.Errorf("cannot read secret: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err != nil {
		return "", fmt.Errorf("cannot read secret: %w", err)
	}
	content = bytes.TrimRight(content, "\r\n")
	switch {
	case len(content) == 0:
		return "", fmt.Errorf("cannot read secret: %q is empty", s.path)
	case len(content) > largest:
		return "", fmt.Errorf("cannot read secret: %q is larger than %d bytes", s.path, largest)
	}
	return string(content), nil
}

// Format prints "<secret>" for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// String is "<secret>".
func (s Secret) String() string { return redacted }

// LogValue is "<secret>".
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText writes "<secret>".
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

func (s *Secret) resolve(dir string, x any) error {
	var p Path
	err := p.resolve(dir, x)
	s.path = string(p)
	return err
}

// Path is the path of a file. What is written is relative to the folder of the configuration
// file; what is decoded is not.
type Path string

func (p *Path) resolve(dir string, x any) error {
	text, ok := x.(string)
	switch {
	case !ok:
		return fmt.Errorf("must be the path of a file, is %s", Show(x))
	case strings.ContainsRune(text, 0):
		return errors.New("must be the path of a file, holds a zero byte")
	}
	*p = Path(File(dir, text))
	return nil
}

// OptionType says what may be written.
func (Path) OptionType() string { return "a path" }

// OptionType says what may be written.
func (Secret) OptionType() string { return "a path" }

const credentialsVariable = "${CREDENTIALS_DIRECTORY}"

// File returns the path of a file as written in a configuration file in folder dir. An empty path
// stays empty. A leading ${CREDENTIALS_DIRECTORY} is replaced if systemd has set that variable,
// and else stays, so that a configuration can be checked outside of the unit.
func File(dir, path string) string {
	if rest, ok := strings.CutPrefix(path, credentialsVariable); ok {
		credentials := os.Getenv("CREDENTIALS_DIRECTORY")
		if credentials == "" {
			return path
		}
		path = credentials + rest
	}
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// ResolveFiles returns a copy of a table that is passed on undecoded, with every string under a
// key that ends in "_file", and every element of a list "files", as File returns it.
func ResolveFiles(dir string, table map[string]any) map[string]any {
	resolved := make(map[string]any, len(table))
	for key, x := range table {
		resolved[key] = resolveFile(dir, key, x)
	}
	return resolved
}

func resolveFile(dir, key string, x any) any {
	if list, ok := listOf(x); ok {
		elements := make([]any, len(list))
		for i := range list {
			elements[i] = resolveFile(dir, strings.Replace(key, "files", "_file", 1), list[i])
		}
		return elements
	}
	switch v := x.(type) {
	case map[string]any:
		return ResolveFiles(dir, v)
	case string:
		if strings.HasSuffix(key, "_file") {
			return File(dir, v)
		}
	}
	return x
}
