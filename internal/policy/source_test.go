package policy

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/hpad/hpad"

// root is the top of the tree, seen from this package.
const root = "../.."

// pkg is one folder of Go files, parsed from the files themselves: a test that asked the go command
// would pass from the cache after an import was added.
type pkg struct {
	dir     string // below root, with slashes
	files   []*ast.File
	imports map[string]string // path to the file that imports it
	comment string
}

// packages parses every package; of its tests only if asked for.
func packages(t *testing.T, tests bool) []*pkg {
	t.Helper()
	byDir := map[string]*pkg{}
	var all []*pkg
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin"):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || !tests && strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), root+string(os.PathSeparator)))
		p := byDir[dir]
		if p == nil {
			p = &pkg{dir: dir, imports: map[string]string{}}
			byDir[dir] = p
			all = append(all, p)
		}
		p.add(file, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("found only %d packages below %s", len(all), root)
	}
	return all
}

func (p *pkg) add(file *ast.File, path string) {
	p.files = append(p.files, file)
	if file.Doc != nil {
		p.comment = file.Doc.Text()
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err == nil {
			p.imports[imported] = filepath.Base(path)
		}
	}
}

// below tells whether path is the folder prefix or inside it.
func below(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
