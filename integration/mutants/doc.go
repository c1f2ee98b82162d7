// Command mutants asks whether the tests of a package would find a mistake in it: it changes
// each comparison, condition, sum and step, one at a time, and runs the tests. What they do not
// notice is a mutant that survives: it is to be noticed by a test, or explained as one that
// changes nothing, in equivalent/PACKAGE.txt, or there is code that nobody needs. An explanation
// names the file and the function, shows the line before and after, and argues by the code why
// no answer, count or bound is another one; several changes may have one reason.
//
//	go run ./integration/mutants [-slow] [-write] [-workers n] PACKAGE ...
//
// It is run at the top of the repository, and exits with 1 if a mutant survives that is not
// explained, or an explanation is not true: no mutant of the source is the explained one, or
// the tests notice it.
//
// What is changed and into what is as Gremlins (https://gremlins.dev) has it. That compiles
// each mutant anew, which takes seconds for each of thousands. Here all mutants of a package are
// compiled into one test binary, each behind a condition, and the environment of a run says
// which of them counts.
//
// Left out are constants, sums of strings, steps of what a map holds, and generic functions.
package main
