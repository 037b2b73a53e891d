/**
 * The functions of the host. `fail` throws on the host's side and unwinds the whole call, so callers never continue.
 */

// @ts-ignore: decorator
@external("host", "fail")
export declare function fail(code: i32, position: usize): void;

/** `fail` with FAIL_ID. `length`: of the id as sent, in bytes of protobuf or characters of JSON. */
// @ts-ignore: decorator
@external("host", "failId")
export declare function failId(position: usize, length: usize): void;

// @ts-ignore: decorator
@external("host", "parseDouble")
export declare function parseDouble(offset: usize, length: u32): f64;

/** Writes the shortest decimal of a finite double at `target` and returns its length (at most 32). */
// @ts-ignore: decorator
@external("host", "printDouble")
export declare function printDouble(value: f64, target: usize): u32;
