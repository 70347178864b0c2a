"""Just enough of protobuf's encoding to say anything to the keeper, also what oyatd never would."""


def varint(number):
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, value):
    """An int becomes a varint, bytes or str a length-delimited field."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(**numbered):
    """message(f1=7, f3="text"): fields by number."""
    return b"".join(field(int(name[1:]), value) for name, value in numbered.items() if value is not None)


def parse(data):
    """{field: [values]}; unknown wire types end it with ValueError."""
    fields, at = {}, 0

    def read_varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value
    while at < len(data):
        tag = read_varint()
        if tag & 7 == 0:
            value = read_varint()
        elif tag & 7 == 2:
            length = read_varint()
            value = data[at:at + length]
            at += length
        else:
            raise ValueError(f"wire type {tag & 7}")
        fields.setdefault(tag >> 3, []).append(value)
    return fields
