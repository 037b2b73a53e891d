/** IP addresses of both versions. */
import { classOf, DOT, HEX, isDigit, LETTER, type Scan, UPPER, WORD } from './scan.ts';

const COLON = 0x3a;
const POINT = 0x2e;
const SLASH = 0x2f;
const ZERO = 0x30;
const MAX_BYTE = 255;
/** The hexadecimal part of an IPv6 address; an IPv4 part may follow. */
const MIN_LENGTH = 3;
const MAX_LENGTH = 39;
/** Shorter texts are more often times or ratios. */
const MIN_ADDRESS = 6;
const GROUPS = 8;
const GROUP_DIGITS = 4;
/** How the versions of reduced user agents end, as in `Chrome/120.0.0.0`. */
const VERSION_END = '.0.0.0';
const MAX_PRODUCT_LETTERS = 32;

export const scanAddresses: Scan = (text, from, end, found) => {
  let at = from;
  while (at < end) {
    const code = text.charCodeAt(at);
    if (code !== COLON && (classOf(code) & HEX) === 0) {
      at++;
      continue;
    }
    const to = addressAt(text, at, code);
    if (to < 0) at++;
    else {
      found.push(at, to);
      at = to;
    }
  }
  return at;
};

function addressAt(text: string, at: number, code: number): number {
  const before = text.charCodeAt(at - 1);
  if ((classOf(before) & (WORD | DOT)) !== 0) return -1;
  const four = isDigit(code) ? fourAt(text, at) : -1;
  // An IPv6 address includes the first colon of a run, so each run is read once.
  return four >= 0 || before === COLON ? four : sixAt(text, at);
}

/** The end of an IPv4 address that is no part of a longer number sequence, or -1. */
function fourAt(text: string, from: number): number {
  const at = afterFour(text, from);
  if (at < 0 || (classOf(text.charCodeAt(at)) & WORD) !== 0) return -1;
  if (text.charCodeAt(at) === POINT && isDigit(text.charCodeAt(at + 1))) return -1;
  return isVersion(text, from, at) ? -1 : at;
}

/**
 * Whether it is the version of a product. Java writes the address of a host after its name and a slash too, so only
 * an address that no host has is a version.
 */
function isVersion(text: string, from: number, to: number): boolean {
  if (text.charCodeAt(from - 1) !== SLASH || !text.endsWith(VERSION_END, to)) return false;
  const next = text.charCodeAt(to);
  if (next === COLON || next === SLASH) return false;
  let at = from - 1;
  const floor = Math.max(0, at - MAX_PRODUCT_LETTERS);
  while (at > floor && (classOf(text.charCodeAt(at - 1)) & LETTER) !== 0) at--;
  return (classOf(text.charCodeAt(at)) & UPPER) !== 0;
}

function afterFour(text: string, from: number): number {
  let at = from;
  for (let part = 0; part < 4; part++) {
    if (part > 0 && text.charCodeAt(at++) !== POINT) return -1;
    at = afterByte(text, at);
    if (at < 0) return -1;
  }
  return at;
}

/** The place after a number up to 255 without leading zeros, or -1. */
function afterByte(text: string, from: number): number {
  let value = 0;
  let at = from;
  while (at < from + 3 && isDigit(text.charCodeAt(at))) value = value * 10 + text.charCodeAt(at++) - ZERO;
  if (at === from || value > MAX_BYTE) return -1;
  return at > from + 1 && text.charCodeAt(from) === ZERO ? -1 : at;
}

/** The end of a run, or a place beyond the longest address. */
function endOfHexes(text: string, from: number): number {
  let at = from;
  while (at <= from + MAX_LENGTH) {
    const code = text.charCodeAt(at);
    if (code !== COLON && (classOf(code) & HEX) === 0) return at;
    at++;
  }
  return at;
}

/** The end of an IPv6 address, or -1. */
function sixAt(text: string, from: number): number {
  const run = endOfHexes(text, from);
  if (run - from < MIN_LENGTH || run - from > MAX_LENGTH) return -1;
  const next = classOf(text.charCodeAt(run));
  if ((next & WORD) !== 0) return -1;
  // Dots after the run must belong to an IPv4 address that replaces the last groups.
  const to = (next & DOT) === 0 ? run : endOfPoints(text, run);
  if (to - from < MIN_ADDRESS || !hasDigit(text, from, to)) return -1;
  return isSix(text, from, run, to) ? to : -1;
}

/** The place after at most three dots, each with up to three digits. */
function endOfPoints(text: string, from: number): number {
  let to = from;
  for (let part = 0; part < 3 && text.charCodeAt(to) === POINT; part++) {
    let at = to + 1;
    while (at < to + 4 && isDigit(text.charCodeAt(at))) at++;
    const after = text.charCodeAt(at);
    if (at === to + 1 || isDigit(after)) return to;
    // The last part may not continue as a word; a dot after it may.
    if (after !== POINT && (after === COLON || (classOf(after) & WORD) !== 0)) return to;
    to = at;
  }
  return to;
}

function hasDigit(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (isDigit(text.charCodeAt(at))) return true;
  return false;
}

/**
 * Whether groups of hexadecimal digits up to `run` make an address, with the part of version 4 that ends at `to` if it
 * is there.
 */
function isSix(text: string, from: number, run: number, to: number): boolean {
  let groups = 0;
  let gap = false;
  let at = from;
  let last = from;
  if (text.charCodeAt(at) === COLON) {
    if (text.charCodeAt(at + 1) !== COLON) return false;
    gap = true;
    at += 2;
    last = at;
  }
  while (at < run) {
    last = at;
    while (at < run && text.charCodeAt(at) !== COLON) at++;
    if (at === last || at - last > GROUP_DIGITS) return false;
    groups++;
    if (at === run) break;
    at++;
    if (text.charCodeAt(at) !== COLON || at >= run) {
      if (at === run) return false;
      continue;
    }
    if (gap) return false;
    gap = true;
    at++;
    last = at;
  }
  if (to > run) {
    if (last === run || afterFour(text, last) !== to) return false;
    groups++;
  }
  return gap ? groups < GROUPS : groups === GROUPS;
}
