"""Real files by their bytes: a PDF with pages of text, and Word documents."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf(pages: Sequence[Sequence[str]], title: str | None = None) -> bytes:
    """A PDF 1.4 file with a font, an object for each page, and a table of references."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    kids = []
    for lines in pages:
        said = "".join(f"1 0 0 1 72 {720 - 16 * row} Tm ({_pdf_text(line)}) Tj\n" for row, line in enumerate(lines))
        stream = f"BT /F1 11 Tf\n{said}ET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Contents %d 0 R >>" % len(objects)
        )
        kids.append(len(objects))
    listed = " ".join(f"{kid} 0 R" for kid in kids).encode()
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, len(kids))
    info = b""
    if title is not None:
        objects.append(b"<< /Title (%s) >>" % _pdf_text(title).encode("latin-1"))
        info = b" /Info %d 0 R" % len(objects)
    made, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(made)
    made += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    made += b"".join(b"%010d 00000 n \n" % place for place in places)
    made += b"trailer\n<< /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, info, start)
    return bytes(made)


def _pdf_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def paragraph(text: str, style: str | None = None) -> str:
    marked = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{marked}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def docx(body: str, core: Mapping[str, str] | None = None, custom: Mapping[str, str] | None = None) -> bytes:
    """A Word document around the XML of a body; its styles have the names that Word gives them in German."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name}"/></w:style>'
        for key, name in {"berschrift1": "heading 1", "Titel": "Title"}.items()
    )
    parts = {
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
        'officeDocument" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:mc="http://schemas.openxmlformats.org/'
        f'markup-compatibility/2006"><w:body>{body}</w:body></w:document>',
        "word/styles.xml": f'<w:styles xmlns:w="{W}">{styles}</w:styles>',
        "docProps/core.xml": '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
        'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/">'
        + "".join(f"<{name}>{escape(value)}</{name}>" for name, value in (core or {}).items())
        + "</cp:coreProperties>",
        "docProps/custom.xml": '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/'
        'custom-properties" xmlns:vt="http://schemas.openxmlformats.org/officeDocument/2006/docPropsVTypes">'
        + "".join(
            f'<property name="{escape(name)}"><vt:lpwstr>{escape(value)}</vt:lpwstr></property>'
            for name, value in (custom or {}).items()
        )
        + "</Properties>",
    }
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as package:
        for name, content in parts.items():
            package.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return held.getvalue()


def bomb(megabytes: int) -> bytes:
    """A Word document of a few kilobytes whose text unpacks to so many megabytes."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as package, package.open("word/document.xml", "w") as part:
        part.write(f'<w:document xmlns:w="{W}"><w:body><w:p><w:r><w:rPr>'.encode())
        for _ in range(megabytes):
            part.write(b" " * 1_000_000)
        part.write(b"</w:rPr></w:r></w:p></w:body></w:document>")
    return held.getvalue()
