package process

import (
	"bufio"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"
)

const (
	// maxLine is how many bytes of a line are logged.
	maxLine = 8 << 10
	// maxLines is how many lines of an instance are logged in a second.
	maxLines = 200
	// outputGrace is how long a process's output may go on after its end: somebody outside its
	// group may still hold the pipe.
	outputGrace = 500 * time.Millisecond
)

// output logs what a process writes. The process is never kept waiting: what the log does not take
// in time is dropped, and counted.
type output struct {
	log            *slog.Logger
	stdout, stderr pipe
	reading        sync.WaitGroup
	lines          chan line
	written        chan struct{} // closed when everything is logged

	mu      sync.Mutex
	second  time.Time // when the current second began
	taken   int       // lines in the current second
	dropped int
}

type pipe struct {
	stream      string
	read, write *os.File
}

type line struct {
	stream, text string
	cut          bool
}

func newOutput(log *slog.Logger) (*output, error) {
	o := &output{
		log: log, stdout: pipe{stream: "stdout"}, stderr: pipe{stream: "stderr"},
		lines: make(chan line, maxLines), written: make(chan struct{}),
	}
	for _, p := range []*pipe{&o.stdout, &o.stderr} {
		var err error
		if p.read, p.write, err = os.Pipe(); err != nil {
			o.stdout.close()
			return nil, err
		}
	}
	return o, nil
}

func (o *output) attach(cmd *exec.Cmd) { cmd.Stdout, cmd.Stderr = o.stdout.write, o.stderr.write }

func (p *pipe) close() {
	for _, f := range []*os.File{p.read, p.write} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// begin reads until the end, once the process has the other ends of the pipes.
func (o *output) begin() {
	for _, p := range []*pipe{&o.stdout, &o.stderr} {
		_ = p.write.Close()
		o.reading.Go(func() { o.follow(p) })
	}
	go o.write()
}

// end returns when everything is logged, or outputGrace has passed.
func (o *output) end() {
	deadline := time.Now().Add(outputGrace)
	for _, p := range []*pipe{&o.stdout, &o.stderr} {
		_ = p.read.SetReadDeadline(deadline)
	}
	o.reading.Wait()
	close(o.lines)
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-o.written:
	case <-timer.C:
	}
}

// follow reads one stream to its end.
func (o *output) follow(p *pipe) {
	defer p.read.Close()
	reader := bufio.NewReaderSize(p.read, maxLine)
	for {
		l, err := nextLine(reader)
		if err == nil || l.text != "" {
			l.stream = p.stream
			o.offer(l, time.Now())
		}
		if err != nil {
			return
		}
	}
}

// nextLine returns the next line without its end, and no more than the reader's buffer of it.
func nextLine(r *bufio.Reader) (line, error) {
	text, err := r.ReadSlice('\n')
	l := line{text: string(trimmed(text))}
	for errors.Is(err, bufio.ErrBufferFull) {
		text, err = r.ReadSlice('\n')
		l.cut = l.cut || len(trimmed(text)) > 0
	}
	return l, err
}

func trimmed(text []byte) []byte {
	if n := len(text); n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
		if n > 1 && text[n-2] == '\r' {
			text = text[:n-2]
		}
	}
	return text
}

// offer passes a line on to the log, if that is allowed and possible now.
func (o *output) offer(l line, now time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Sub(o.second) >= time.Second {
		o.second, o.taken = now, 0
	}
	if o.taken == maxLines {
		o.dropped++
		return
	}
	select {
	case o.lines <- l:
		o.taken++
	default:
		o.dropped++
	}
}

// write logs lines and, once a second, how many were dropped.
func (o *output) write() {
	defer close(o.written)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case l, ok := <-o.lines:
			if !ok {
				o.reportDropped()
				return
			}
			o.logLine(l)
		case <-ticker.C:
			o.reportDropped()
		}
	}
}

func (o *output) logLine(l line) {
	attributes := []any{slog.String("stream", l.stream), slog.String("line", l.text)}
	if l.cut {
		attributes = append(attributes, slog.Bool("cut", true))
	}
	o.log.Info("output of an instance", attributes...)
}

func (o *output) reportDropped() {
	o.mu.Lock()
	dropped := o.dropped
	o.dropped = 0
	o.mu.Unlock()
	if dropped > 0 {
		o.log.Warn("output lines of an instance dropped", slog.Int("lines", dropped))
	}
}
