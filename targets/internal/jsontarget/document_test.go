package jsontarget

import (
	"os"
	"strings"
	"testing"

	"github.com/hpad/hpad/targets"
)

const document = "../../../docs/contract-json.md"

// TestTheDocumentShowsWhatIsSpoken decodes every answer of the document, and makes its requests.
func TestTheDocumentShowsWhatIsSpoken(t *testing.T) {
	content, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	blocks := strings.Split(text, "\n```json\n")[1:]
	if len(blocks) != 4 {
		t.Fatalf("%d blocks of JSON, want 4", len(blocks))
	}
	for i := range blocks {
		blocks[i], _, _ = strings.Cut(blocks[i], "```")
	}
	status, refusal, err := Decode(reading, []byte(blocks[1]))
	if err != nil || refusal != nil {
		t.Fatal(refusal, err)
	}
	if shown := status.convert(); len(shown.Instances) != 2 || shown.Blocked(3) == nil {
		t.Errorf("the status is %+v", shown)
	}
	if _, refusal, err := Decode(writing, []byte(blocks[2])); err != nil || refusal != nil {
		t.Errorf("the accepted change is %v, %v", refusal, err)
	}
	if _, refusal, err := Decode(reading, []byte(blocks[3])); err != nil || targets.ClassOf(refusal, false) != targets.Throttled {
		t.Errorf("the error is %v, %v", refusal, err)
	}
	version, from, replicas := "7", int32(2), int32(3)
	read := Request{Version: 1, Operation: OperationStatus, Target: "mailer", Parameters: map[string]string{"region": "eu"}}
	write := read
	write.Operation, write.FromVersion, write.FromReplicas, write.Replicas = OperationSet, &version, &from, &replicas
	write.RequestID = "Y3KRW6PG7AUVZJBQFR5M2DXOHS"
	if want := string(read.JSON()) + string(write.JSON()); blocks[0] != want {
		t.Errorf("the requests are\n%s, want\n%s", blocks[0], want)
	}
	for name := range write.Variables() {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the document does not name %s", name)
		}
	}
	for class := targets.Unavailable; class <= targets.Uncertain; class++ {
		if !strings.Contains(text, "\n| `"+class.String()+"` |") {
			t.Errorf("the document does not name the class %v", class)
		}
	}
	for name := range phases {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("the document does not name the phase %s", name)
		}
	}
}
