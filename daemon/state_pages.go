package daemon

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	bolt "go.etcd.io/bbolt"
)

// What follows knows bbolt's file format, where bbolt itself believes what it reads and asks for as
// much memory as it says, or follows it for ever: the list of free pages, and the lengths of pages.
const (
	pageHeader    = 16
	metaMagic     = 0xED0CDAED
	metaLength    = 64
	noFreelist    = ^uint64(0)
	countIsInside = 0xffff
)

var errFreelist = errors.New("the list of free pages does not fit into its pages")

// verifyFreelist looks at the list of free pages before bbolt does. It leaves to bbolt what else
// may be wrong.
func verifyFreelist(file *os.File) error {
	stat, err := file.Stat()
	if err != nil {
		return err
	}
	size, list := uint64(os.Getpagesize()), noFreelist
	var newest uint64
	for i := range uint64(2) {
		meta := make([]byte, metaLength)
		if _, err := file.ReadAt(meta, int64(i*size+pageHeader)); err != nil {
			return ignoreEnd(err)
		}
		h := fnv.New64a()
		h.Write(meta[:56])
		sound := binary.LittleEndian.Uint32(meta) == metaMagic && h.Sum64() == binary.LittleEndian.Uint64(meta[56:])
		if txid := binary.LittleEndian.Uint64(meta[48:]); sound && txid >= newest {
			newest, list = txid, binary.LittleEndian.Uint64(meta[32:])
			size = uint64(binary.LittleEndian.Uint32(meta[8:]))
		}
	}
	pages := uint64(stat.Size()) / size
	if list == noFreelist || list >= pages {
		return nil
	}
	header := make([]byte, pageHeader+8)
	if _, err := file.ReadAt(header, int64(list*size)); err != nil {
		return ignoreEnd(err)
	}
	count, first := uint64(binary.LittleEndian.Uint16(header[10:])), uint64(pageHeader)
	if count == countIsInside {
		count, first = binary.LittleEndian.Uint64(header[pageHeader:]), first+8
	}
	length := uint64(binary.LittleEndian.Uint32(header[12:])) + 1
	if length > pages-list || count > (length*size-first)/8 {
		return errFreelist
	}
	return nil
}

func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// verifyLengths finds pages that reach beyond the end.
func verifyLengths(tx *bolt.Tx) error {
	pages := int(tx.Size()) / tx.DB().Info().PageSize
	for id := 0; id < pages; id++ {
		page, err := tx.Page(id)
		switch {
		case err != nil:
			return err
		case page == nil || page.Type == "free":
			continue
		case page.OverflowCount < 0 || page.OverflowCount >= pages-id:
			return fmt.Errorf("page %d reaches beyond the end", id)
		}
		id += page.OverflowCount
	}
	return nil
}
