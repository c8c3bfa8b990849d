package prometheus

import "testing"

const plainAnswer = `{"status":"success","data":{"resultType":"vector","result":[` +
	`{"metric":{},"value":[1700000000,"1"]},{"metric":{"a":"b","c":"é"},"value":[1700000000.123,"NaN"]}]}}`

func TestUsualAnswerIsPlain(t *testing.T) {
	for _, body := range []string{plainAnswer, `{"status":"success","data":{"resultType":"vector","result":[]}}`} {
		if !isPlain([]byte(body)) {
			t.Errorf("%s is not plain", body)
		}
	}
}

func TestAnswerWithOneByteOfSyntaxLessIsNotPlain(t *testing.T) {
	for i, c := range []byte(plainAnswer) {
		body := plainAnswer[:i] + plainAnswer[i+1:]
		if (c < '0' || c > '9') && isPlain([]byte(body)) && checkDecoded([]byte(body)) != nil {
			t.Errorf("%s is plain", body)
		}
		if isPlain([]byte(plainAnswer[:i])) {
			t.Errorf("%s is plain", plainAnswer[:i])
		}
	}
}

// FuzzPlainAnswerHasNoHoles checks that isPlain is true of nothing that decoding finds fault with.
func FuzzPlainAnswerHasNoHoles(f *testing.F) {
	for _, result := range []string{
		``, `{}`, `{"metric":{}}`, `{"metric":{},"value":[1,"2"]}`, `{"metric":{"a":"b"},"value":[1.5,""]}`,
		`{"metric":{"a":"b",},"value":[1,"2"]}`, `{"metric":{},"value":[null,"2"]}`, `{"metric":{},"value":[01,"2"]}`,
		`{"metric":{},"value":[1,"2"],"value":[1]}`, `{"metric":{},"value":[1.,"2"]}`, `{"metric":{},"value":[1,"\""]}`,
	} {
		f.Add([]byte(`{"status":"success","data":{"resultType":"vector","result":[` + result + `]}}`))
	}
	f.Add([]byte(plainAnswer))
	f.Fuzz(func(t *testing.T, body []byte) {
		if !isPlain(body) {
			return
		}
		if err := checkDecoded(body); err != nil {
			t.Errorf("%q is plain, but: %v", body, err)
		}
	})
}
