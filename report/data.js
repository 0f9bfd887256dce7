/** What the page carries: facts as JSON, then columns of whole numbers in LEB128. */
export class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  number() {
    let byte = this.bytes[this.at++];
    let value = byte & 127;
    for (let unit = 128; byte & 128; unit *= 128) {
      byte = this.bytes[this.at++];
      value += (byte & 127) * unit;
    }
    return value;
  }

  signed() {
    const value = this.number();
    return value % 2 ? -(value + 1) / 2 : value / 2;
  }

  json() {
    const size = this.number();
    const text = new TextDecoder().decode(this.bytes.subarray(this.at, this.at + size));
    this.at += size;
    return JSON.parse(text);
  }

  /** `count` numbers, into an array of that type. */
  column(count, Type) {
    const values = new Type(count);
    for (let i = 0; i < count; ++i) values[i] = this.number();
    return values;
  }

  signedColumn(count, Type) {
    const values = new Type(count);
    for (let i = 0; i < count; ++i) values[i] = this.signed();
    return values;
  }
}

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  return Uint8Array.from(atob(text), character => character.charCodeAt(0));
}

export async function unpack(text) {
  const packed = new Blob([fromBase64(text)]).stream();
  const plain = packed.pipeThrough(new DecompressionStream("deflate-raw"));
  return new Reader(new Uint8Array(await new Response(plain).arrayBuffer()));
}
