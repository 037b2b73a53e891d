/**
 * Imported by a file that has only long tests: checks of details, each with a browser or a server of its own, beside
 * files that test the main path. `npm test` leaves it out. `node scripts/test.js --long` and `.ci/run` run it.
 */
export {};
