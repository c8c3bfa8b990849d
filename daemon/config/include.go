package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// included returns the files that the patterns of the main file pull in, each once.
func (l *loader) included(s *scope, patterns []string) []string {
	dir := filepath.Dir(s.file)
	seen := []string{filepath.Clean(s.file)}
	for i, pattern := range patterns {
		key := element("include", i)
		switch {
		case pattern == "":
			s.failf(key, "must be a path or a pattern, is empty")
		case !strings.ContainsAny(pattern, `*?[\`):
			path := joinPath(dir, pattern)
			if stat, err := os.Stat(path); err != nil {
				s.failf(key, "cannot read %q: %v", path, plainReason(err))
			} else if stat.IsDir() {
				s.failf(key, "must be a file or a pattern such as %q, is a folder", filepath.Join(pattern, "*.toml"))
			} else if !slices.Contains(seen, path) {
				seen = append(seen, path)
			}
		default:
			matches, err := filepath.Glob(joinPath(escapePattern(dir), pattern))
			if err != nil {
				s.failf(key, "must be a path or a pattern, is %q: %v", pattern, err)
			}
			for _, path := range matches {
				if !leftOver(filepath.Base(path)) && !slices.Contains(seen, path) {
					seen = append(seen, path)
				}
			}
		}
	}
	return seen[1:]
}

func joinPath(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// escapePattern keeps a folder whose name looks like a pattern from being one.
func escapePattern(dir string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(dir)
}

// leftOver tells the files that editors and packages leave beside the real ones.
func leftOver(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, "~") ||
		strings.Contains(name, ".dpkg-") ||
		strings.HasSuffix(name, ".rpmnew") || strings.HasSuffix(name, ".rpmsave")
}
