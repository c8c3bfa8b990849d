package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

const (
	// stateFile is in state_dir.
	stateFile = "state.db"
	// stateSchema is the version of the file's layout: records by the name of their workload in one
	// bucket, keys about the file in another.
	stateSchema = 1
	// lockTimeout is how long a start waits for the hpad before it to let go of the file.
	lockTimeout = time.Second
)

var (
	bucketAbout     = []byte("about")
	bucketWorkloads = []byte("workloads")
	keySchema       = []byte("schema")
	// keyStopped is there while no hpad runs that did not stop in order: when nothing can be missing.
	keyStopped = []byte("stopped")
)

// openState opens the state in the folder, and makes it if there is none. A damaged file is put
// aside. The errors are for the operator: another hpad uses the state, a newer one wrote it, or the
// folder cannot be used.
func openState(dir string, log *slog.Logger, metrics *stateMetrics) (*store, error) {
	path := filepath.Join(dir, stateFile)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot open the state in %q: %w", dir, err)
	}
	db, err := openOrReplace(path, log, metrics)
	if err != nil {
		return nil, fmt.Errorf("cannot open the state in %q: %w", dir, err)
	}
	s := &store{
		path: path, log: log, metrics: metrics, db: db,
		dirty: map[string]saved{}, dirtied: make(chan struct{}, 1), urgent: make(chan struct{}, 1),
		stop: make(chan struct{}), done: make(chan struct{}),
	}
	err = db.View(func(tx *bolt.Tx) error {
		if about := tx.Bucket(bucketAbout); about != nil {
			s.complete = about.Get(keyStopped) != nil
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot read the state in %q: %w", dir, err), db.Close())
	}
	if err := db.Update(prepare); err != nil {
		s.failed(err)
	}
	go s.run()
	return s, nil
}

// openOrReplace opens the file, or an empty one in the place of a damaged one.
func openOrReplace(path string, log *slog.Logger, metrics *stateMetrics) (*bolt.DB, error) {
	db, err := openFile(path)
	var damage *damageError
	if !errors.As(err, &damage) {
		return db, err
	}
	if err := putAside(path, damage, log, metrics); err != nil {
		return nil, err
	}
	return openFile(path)
}

// putAside renames a damaged file.
func putAside(path string, damage error, log *slog.Logger, metrics *stateMetrics) error {
	aside := path + ".corrupt-" + time.Now().UTC().Format("20060102T150405.000Z")
	if err := os.Rename(path, aside); err != nil {
		return fmt.Errorf("it is damaged (%w) and cannot be put aside: %w", damage, err)
	}
	metrics.damaged.Inc()
	log.Warn("the state is damaged and was put aside; hpad goes on without memory", "file", aside, "err", damage)
	return nil
}

// damageError says what is wrong with the content of the file.
type damageError struct{ err error }

func (e *damageError) Error() string { return e.err.Error() }
func (e *damageError) Unwrap() error { return e.err }

// openFile opens the file and reads all of it.
func openFile(path string) (*bolt.DB, error) {
	var file *os.File
	options := &bolt.Options{
		Timeout: lockTimeout, FreelistType: bolt.FreelistMapType, NoStatistics: true,
		OpenFile: func(name string, flag int, mode os.FileMode) (_ *os.File, err error) {
			if file, err = os.OpenFile(name, flag, mode); err != nil {
				return nil, err
			}
			// bbolt locks the file too, but not before it is looked at here.
			if err := lock(file); err != nil {
				return nil, errors.Join(err, file.Close())
			}
			if err := verifyFreelist(file); err != nil {
				return nil, errors.Join(err, file.Close())
			}
			return file, nil
		},
	}
	var db *bolt.DB
	err := withoutFaults(func() (err error) {
		if db, err = bolt.Open(path, 0o600, options); err != nil {
			return err
		}
		return db.View(verify)
	})
	if err == nil {
		return db, nil
	}
	if db != nil {
		err = errors.Join(err, db.Close())
	} else if file != nil {
		// The lock goes with the file. If the file was closed already there is nothing left to do.
		_ = file.Close()
	}
	return nil, classify(err)
}

// lock waits a while for the lock that bbolt takes on its file.
func lock(file *os.File) error {
	for began := time.Now(); ; time.Sleep(lockTimeout / 20) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return err
		}
		if time.Since(began) > lockTimeout {
			return bolterrors.ErrTimeout
		}
	}
}

// withoutFaults is guarded for code that follows offsets in a mapped file: where they lead out of
// the file, it panics instead of ending the process.
func withoutFaults(f func() error) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return guarded(f)
}

// classify tells damage from what the operator can do something about.
func classify(err error) error {
	var path *fs.PathError
	var errno syscall.Errno
	var newer *newerError
	var panicked *panicError
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return errors.New("another hpad uses it")
	case errors.As(err, &newer):
		return newer
	case errors.As(err, &panicked):
		return &damageError{fmt.Errorf("cannot read it: %v", panicked.value)}
	case errors.As(err, &path) || errors.As(err, &errno):
		return err
	}
	return &damageError{err}
}

// newerError refuses a file whose layout this hpad does not know.
type newerError struct{ schema string }

func (e *newerError) Error() string {
	return fmt.Sprintf("a newer hpad wrote it (schema %s, this one knows %d); start that one, or move the state away",
		e.schema, stateSchema)
}

// verify reads everything there is. What bbolt itself checks comes last, for it follows offsets
// that must have led somewhere before.
func verify(tx *bolt.Tx) error {
	stat, err := os.Stat(tx.DB().Path())
	if err != nil {
		return err
	}
	if stat.Size() < tx.Size() {
		return fmt.Errorf("it is cut short: %d bytes instead of %d", stat.Size(), tx.Size())
	}
	if err := verifyLengths(tx); err != nil {
		return err
	}
	if err := verifySchema(tx.Bucket(bucketAbout)); err != nil {
		return err
	}
	if workloads := tx.Bucket(bucketWorkloads); workloads != nil {
		err := workloads.ForEach(func(name, record []byte) error {
			if _, err := decode(bytes.Clone(record)); err != nil {
				return fmt.Errorf("cannot read the record of workload %q: %w", name, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	var first error
	for err := range tx.Check() {
		if first == nil {
			first = err
		}
	}
	return first
}

func verifySchema(about *bolt.Bucket) error {
	if about == nil {
		return nil
	}
	text := string(about.Get(keySchema))
	switch schema, err := strconv.Atoi(text); {
	case err != nil:
		return fmt.Errorf("its schema is %q", text)
	case schema > stateSchema:
		return &newerError{text}
	}
	return about.ForEach(func(_, _ []byte) error { return nil })
}

// prepare makes what a file needs, and takes note that hpad runs. It changes nothing if that is so
// already.
func prepare(tx *bolt.Tx) error {
	about, err := tx.CreateBucketIfNotExists(bucketAbout)
	if err != nil {
		return err
	}
	if _, err := tx.CreateBucketIfNotExists(bucketWorkloads); err != nil {
		return err
	}
	if about.Get(keySchema) == nil {
		if err := about.Put(keySchema, strconv.AppendInt(nil, stateSchema, 10)); err != nil {
			return err
		}
	}
	if about.Get(keyStopped) == nil {
		return nil
	}
	return about.Delete(keyStopped)
}
