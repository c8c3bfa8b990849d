package dockertest

import (
	"archive/tar"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"
)

// ImportWorkload makes the image ref of the program in dockertest/workload, which behaves as its
// environment says.
func (e *Engine) ImportWorkload(t testing.TB, ref string) {
	t.Helper()
	e.ImportPackage(t, "github.com/hpad/hpad/internal/dockertest/workload", ref)
}

// ImportPackage makes the image ref of a command of this module.
func (e *Engine) ImportPackage(t testing.TB, pkg, ref string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	buildStatic(t, "build", "-o", path, pkg)
	e.ImportBinary(t, path, ref)
}

// ImportSelf makes the image ref of the running test. TestMain tells by its environment that it
// is the workload and not the test. A test that was linked against libc is built again without.
func (e *Engine) ImportSelf(t testing.TB, ref string) {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if !isStatic(path) {
		path = filepath.Join(t.TempDir(), "program")
		buildStatic(t, "test", "-c", "-o", path, ".")
	}
	e.ImportBinary(t, path, ref)
}

// ImportBinary makes the image ref whose only file, and entry point, is the statically linked
// program at path.
func (e *Engine) ImportBinary(t testing.TB, path, ref string) {
	t.Helper()
	if !isStatic(path) {
		t.Fatalf("%q is not a statically linked program", path)
	}
	r, w := io.Pipe()
	go func() { _ = w.CloseWithError(writeImage(w, path)) }()
	source := image.ImportSource{Source: r, SourceName: "-"}
	options := image.ImportOptions{Changes: []string{`ENTRYPOINT ["/program"]`}}
	body, err := e.client.ImageImport(t.Context(), source, ref, options)
	if err != nil {
		t.Fatalf("cannot import %q: %v", ref, err)
	}
	defer body.Close()
	answer, err := io.ReadAll(body)
	if err != nil || strings.Contains(string(answer), `"error"`) {
		t.Fatalf("cannot import %q: %v %s", ref, err, answer)
	}
}

func writeImage(w io.Writer, path string) error {
	program, err := os.Open(path)
	if err != nil {
		return err
	}
	defer program.Close()
	stat, err := program.Stat()
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	header := &tar.Header{Name: "program", Mode: 0o755, Size: stat.Size(), Typeflag: tar.TypeReg}
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, program)
	return errors.Join(err, archive.Close())
}

func buildStatic(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cannot build a static program: %v", fmt.Errorf("%w\n%s", err, out))
	}
}

// isStatic tells whether the program runs without a dynamic loader.
func isStatic(path string) bool {
	program, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer program.Close()
	for _, segment := range program.Progs {
		if segment.Type == elf.PT_INTERP {
			return false
		}
	}
	return true
}
