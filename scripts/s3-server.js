// Builds versitygw, an S3 server over a folder, with Go and prints the path of the executable. Exit code 77, with the
// reason, if it cannot be built.
import { printGoProgram } from './go-program.js';

const PACKAGE = 'github.com/versity/versitygw/cmd/versitygw@v1.8.0';

await printGoProgram({ what: 'versitygw', source: PACKAGE, args: ['install', PACKAGE], built: 'versitygw' });
