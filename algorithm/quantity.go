package algorithm

// Quantity is a number in thousandths: 0.25 cores are 250, 1 MiB is 1 048 576 000.
type Quantity int64
