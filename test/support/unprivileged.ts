/** A user without rights, as which root runs the programs of a test. */
export const UNPRIVILEGED = 65534;
export const isRoot = process.getuid?.() === 0;

/** The options `uid` and `gid` of a child process that must not run as root; none for other users. */
export const asUnprivileged = (): { readonly uid?: number; readonly gid?: number } =>
  isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
