/** Loaded into a measured process: collects garbage on a signal, so that leaks can be distinguished from garbage. */
process.on('SIGUSR2', () => globalThis.gc?.());
