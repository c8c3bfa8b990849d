package daemon

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"
)

var errSlow = fmt.Errorf("no answer from the disk within %s", maxCommitWait)

// write commits the batch in one transaction. A file that turns out to be damaged is put aside, once.
func (s *store) write(b batch) error {
	db, err := s.file()
	if err != nil {
		return err
	}
	err = withoutFaults(func() error {
		return db.Update(func(tx *bolt.Tx) error { return b.put(tx) })
	})
	var panicked *panicError
	if errors.As(err, &panicked) && !s.replaced {
		s.replaced = true
		err = errors.Join(err, putAside(s.path, err, s.log, s.metrics))
		// What panicked may hold its locks for ever, so it is left as it is instead of being closed.
		s.use(nil)
	}
	return err
}

// file is the open file, a new one if the one before was put aside.
func (s *store) file() (*bolt.DB, error) {
	if s.db != nil {
		return s.db, nil
	}
	db, err := openFile(s.path)
	if err == nil {
		s.use(db)
	}
	return db, err
}

func (s *store) use(db *bolt.DB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.db = db
}

// put writes the batch.
func (b *batch) put(tx *bolt.Tx) error {
	if err := prepare(tx); err != nil {
		return err
	}
	workloads := tx.Bucket(bucketWorkloads)
	for name, state := range b.states {
		if err := workloads.Put([]byte(name), state.encode()); err != nil {
			return err
		}
	}
	if b.configured != nil {
		if err := b.forget(workloads); err != nil {
			return err
		}
	}
	if !b.last {
		return nil
	}
	return tx.Bucket(bucketAbout).Put(keyStopped, []byte(time.Now().UTC().Format(time.RFC3339)))
}

// forget deletes what is too old of workloads that are gone.
func (b *batch) forget(workloads *bolt.Bucket) error {
	oldest := time.Now().Add(-forgetAfter)
	var gone [][]byte
	err := workloads.ForEach(func(name, record []byte) error {
		if b.configured[string(name)] {
			return nil
		}
		state, err := decode(record)
		if err == nil && state.at.Before(oldest) {
			gone = append(gone, bytes.Clone(name))
		}
		return err
	})
	for _, name := range gone {
		err = errors.Join(err, workloads.Delete(name))
	}
	return err
}

// failed counts a failure, and says so if it is the first.
func (s *store) failed(err error) {
	s.metrics.failures.Inc()
	s.mu.Lock()
	first := !s.failing
	s.failing = true
	s.mu.Unlock()
	if first {
		s.log.Warn("cannot write the state; workloads are scaled all the same, but a restart may forget what happened since",
			"file", s.path, "err", err)
	}
}

func (s *store) worked() {
	s.mu.Lock()
	again := s.failing
	s.failing = false
	s.mu.Unlock()
	if again {
		s.log.Info("the state is written again", "file", s.path)
	}
}
