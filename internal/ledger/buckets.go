package ledger

import (
	"cmp"
	"slices"
	"time"
)

// bucket is the counters of one step of a time series. The first element is the number of the step
// since the Unix epoch.
type bucket interface {
	RequestBucket | ResponseBucket | HumanVisitBucket
}

// searchBuckets returns the index of the bucket of a step, and whether it exists. Without the
// bucket, the index is the place for inserting it.
func searchBuckets[C bucket](buckets []C, stepNumber uint32) (int, bool) {
	return slices.BinarySearchFunc(buckets, stepNumber, func(c C, stepNumber uint32) int { return cmp.Compare(c[0], stepNumber) })
}

// getOrAddBucket returns the bucket of a step, and creates it if necessary. The result is nil if
// the step is at least maxSteps older than the last bucket. Buckets that become too old are
// dropped. The usual case, the last bucket, is inlined.
func getOrAddBucket[C bucket](buckets *[]C, stepNumber, maxSteps uint32) *C {
	if n := len(*buckets); n > 0 && (*buckets)[n-1][0] == stepNumber {
		return &(*buckets)[n-1]
	}
	return getOrInsertBucket(buckets, stepNumber, maxSteps)
}

// getOrInsertBucket implements getOrAddBucket for any step but that of the last bucket.
func getOrInsertBucket[C bucket](buckets *[]C, stepNumber, maxSteps uint32) *C {
	existing := *buckets
	n := len(existing)
	var empty C
	empty[0] = stepNumber
	if n == 0 || stepNumber > existing[n-1][0] {
		if stepNumber >= maxSteps {
			existing = dropBucketsBefore(existing, stepNumber-maxSteps+1)
		}
		*buckets = append(existing, empty)
		return &(*buckets)[len(existing)]
	}
	if existing[n-1][0]-stepNumber >= maxSteps {
		return nil
	}
	i, found := searchBuckets(existing, stepNumber)
	if !found {
		*buckets = slices.Insert(existing, i, empty)
	}
	return &(*buckets)[i]
}

// dropBucketsBefore removes the buckets of all earlier steps.
func dropBucketsBefore[C bucket](buckets []C, stepNumber uint32) []C {
	if i, _ := searchBuckets(buckets, stepNumber); i > 0 {
		return slices.Delete(buckets, 0, i)
	}
	return buckets
}

// pruneBuckets removes buckets that are in the future, older than retention, or older than the last
// maxSteps steps. now is in Unix milliseconds.
func pruneBuckets[C bucket](buckets []C, r Resolution, maxSteps uint32, now int64, retention time.Duration) []C {
	last := r.stepNumber(now)
	if i, _ := searchBuckets(buckets, last+1); i < len(buckets) {
		buckets = buckets[:i]
	}
	first := r.stepNumber(now - retention.Milliseconds())
	if last >= maxSteps {
		first = max(first, last-maxSteps+1)
	}
	return dropBucketsBefore(buckets, first)
}

// bucketsBetween returns the buckets from the step that contains the time from until the step that
// contains the time to, inclusive.
func bucketsBetween[C bucket](buckets []C, r Resolution, from, to time.Time) []C {
	i, _ := searchBuckets(buckets, r.stepNumber(from.UnixMilli()))
	n := len(buckets)
	if last := r.stepNumber(to.UnixMilli()); n > i && buckets[n-1][0] > last {
		n, _ = searchBuckets(buckets, last+1)
	}
	return buckets[i:max(i, n)]
}

// mergeBuckets calls add for each bucket in from, with the bucket of the same step in to. Steps too
// old for to are skipped.
func mergeBuckets[C bucket](to *[]C, from []C, maxSteps uint32, add func(to, from *C)) {
	if len(*to) == 0 {
		*to = slices.Grow(*to, min(len(from), int(maxSteps)))
	}
	for i := range from {
		if c := getOrAddBucket(to, from[i][0], maxSteps); c != nil {
			add(c, &from[i])
		}
	}
}

// ResponseHours is the length of the hourly series of a [Timeline].
const ResponseHours = 48

// Timeline counts the same events in two time series, hourly and daily. Buckets are sorted by time,
// oldest first. Steps without events have no bucket.
type Timeline[C bucket] [2][]C

// timelineResolutions are the resolutions of the two series of a Timeline, with their lengths in
// steps.
var timelineResolutions = [2]struct {
	Resolution
	maxSteps uint32
}{{Hours, ResponseHours}, {Days, uint32(Days.NumSteps())}}

// Series returns the hourly or the daily series. r must be Hours or Days.
func (t *Timeline[C]) Series(r Resolution) []C { return t[r-Hours] }

// updateBuckets calls add with the hourly and the daily bucket of a time in Unix milliseconds.
// updateBuckets skips a series that does not go back so far.
func (t *Timeline[C]) updateBuckets(at int64, add func(*C)) {
	for i, r := range timelineResolutions {
		if c := getOrAddBucket(&t[i], r.stepNumber(at), r.maxSteps); c != nil {
			add(c)
		}
	}
}

// merge adds the buckets of another Timeline.
func (t *Timeline[C]) merge(other *Timeline[C], add func(to, from *C)) {
	for i, r := range timelineResolutions {
		mergeBuckets(&t[i], other[i], r.maxSteps, add)
	}
}

// prune removes buckets that are in the future, older than retention, or too old for their series.
// prune reports whether any bucket remains.
func (t *Timeline[C]) prune(now int64, retention time.Duration) bool {
	for i, r := range timelineResolutions {
		t[i] = pruneBuckets(t[i], r.Resolution, r.maxSteps, now, retention)
	}
	return len(t.Series(Days)) > 0
}
