// Package exec is the driver "exec": it runs a command and takes numbers from the JSON that the
// command writes. A query is a path into it (package jsondoc), or, if the command has a place for
// the query among its arguments, whatever the command understands.
package exec

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/hpad/hpad/internal/command"
	"github.com/hpad/hpad/internal/options"
	"github.com/hpad/hpad/sources"
	"github.com/hpad/hpad/sources/internal/jsondoc"
)

// queryWord stands for the query among the arguments.
const queryWord = "{query}"

// Options are the keys of a [sources.NAME] table with driver = "exec".
type Options struct {
	command.Options
	Path string `toml:"path" doc:"where the numbers are in the output, if an argument of command holds {query}; else every query is such a path itself"`
}

// Defaults are the Options of an empty table.
func Defaults() Options { return Options{Options: command.Defaults()} }

// Driver returns the driver "exec".
func Driver() sources.Driver { return sources.Driver{Name: "exec", Open: open} }

func open(_ sources.Environment, table options.Table) (sources.Source, error) {
	o := Defaults()
	if err := table.Decode(&o); err != nil {
		return nil, err
	}
	c, err := command.New(o.Options, table.Dir())
	path, pathErr := o.path()
	if err := errors.Join(err, pathErr); err != nil {
		return nil, err
	}
	s := &source{command: c, path: path}
	s.document = jsondoc.New(c.String(), func(ctx context.Context) ([]byte, error) {
		return s.run(ctx, command.Call{})
	}, o.Timeout.Std()+time.Second)
	return s, nil
}

// path is where the numbers are, if a query does not say so itself.
func (o *Options) path() (*jsondoc.Path, error) {
	for i, word := range o.Command {
		if i == 0 || !strings.Contains(word, queryWord) {
			continue
		}
		text := o.Path
		if text == "" {
			text = "."
		}
		path, err := jsondoc.Parse(text)
		if err != nil {
			return nil, options.Errorf("path", "%v", err)
		}
		return path, nil
	}
	if o.Path != "" {
		return nil, options.Errorf("path", "is of use only if an argument of command holds %s; else every query is a path", queryWord)
	}
	return nil, nil
}

// source is an opened table. It implements sources.Querier and sources.QueryChecker.
type source struct {
	command  *command.Command
	document *jsondoc.Document
	path     *jsondoc.Path // nil if the query is one
}

// Close has nothing to release: every run ends with the query that began it.
func (s *source) Close() error { return nil }

// Query returns the numbers of the command's output. With a place for the query the command runs
// for every query, else once per evaluation time.
func (s *source) Query(ctx context.Context, q sources.Query, at time.Time) (*sources.Result, error) {
	if s.path == nil {
		return s.document.Query(ctx, q, at)
	}
	text, err := s.run(ctx, command.Call{Arguments: s.arguments(q.Text), Env: map[string]string{"HPAD_QUERY": q.Text}})
	if err != nil {
		return nil, sources.Errorf(sources.KindOf(err), "query %q: %w", q.Text, err)
	}
	document, err := jsondoc.Parsed(s.command.String(), text)
	if err != nil {
		return nil, err
	}
	return s.path.Result(document, at)
}

func (s *source) arguments(query string) []string {
	arguments := []string{}
	for _, word := range s.command.Options().Command[1:] {
		arguments = append(arguments, strings.ReplaceAll(word, queryWord, query))
	}
	return arguments
}

// CheckQuery says offline whether q is a path, if it must be one.
func (s *source) CheckQuery(q sources.Query) error {
	switch {
	case s.path == nil:
		return jsondoc.Check(q)
	case strings.TrimSpace(q.Text) == "":
		return sources.Errorf(sources.BadQuery, "is empty, must be what the command understands")
	case strings.ContainsRune(q.Text, 0):
		return sources.Errorf(sources.BadQuery, "holds a zero byte, which no argument can")
	case q.CheckTimestamp && !s.path.HasTime():
		return sources.Errorf(sources.BadQuery, "gives samples of the time of the evaluation, which never look old: check_timestamp needs @time in the source's path")
	}
	return nil
}

// run returns the output of the command, or an error of the kind that its end means.
func (s *source) run(ctx context.Context, call command.Call) ([]byte, error) {
	answer, err := s.command.Run(ctx, call)
	switch {
	case errors.Is(err, command.ErrTooLarge):
		return nil, &sources.Error{Kind: sources.Garbled, Err: err}
	case errors.Is(err, command.ErrNotStarted) && errors.Is(err, fs.ErrPermission):
		return nil, &sources.Error{Kind: sources.Denied, Err: err}
	case err != nil:
		return nil, &sources.Error{Kind: sources.Unavailable, Err: err}
	case answer.Code == 0:
		return answer.Output, nil
	}
	said := ""
	if answer.Remark != "" {
		said = ": " + answer.Remark
	}
	return nil, sources.Errorf(kindOfCode(answer.Code), "command %s exited with status %d%s", s.command, answer.Code, said)
}

// kindOfCode gives the exit codes of the target driver "exec" their meaning here.
func kindOfCode(code int) sources.Kind {
	switch code {
	case 16:
		return sources.NoData
	case 17:
		return sources.Denied
	case 18:
		return sources.BadQuery
	}
	return sources.Unavailable
}
