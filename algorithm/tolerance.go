package algorithm

// tolerance is how far the usage ratio may be from 1, per direction, before anything changes.
type tolerance struct{ up, down float64 }

func (t *tolerance) override(b *Behavior) {
	if b.ScaleUp.Tolerance != nil {
		t.up = *b.ScaleUp.Tolerance
	}
	if b.ScaleDown.Tolerance != nil {
		t.down = *b.ScaleDown.Tolerance
	}
}

// within is false for NaN; both edges are inside (section 6).
func (t *tolerance) within(ratio float64) bool {
	return 1.0-t.down <= ratio && ratio <= 1.0+t.up
}
