# SPDX-License-Identifier: Apache-2.0
"""What of a document does not keep to SPDX 2.3: fields that its specification demands, their forms, and names that lead nowhere. Written from
the specification (clauses 6 to 11), apart from what writes the document."""
import re

ID = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
RELATIONS = {"DESCRIBES", "GENERATED_FROM", "STATIC_LINK", "CONTAINS", "DEPENDS_ON"}
WORDS = r"[A-Za-z0-9.+-]+( WITH [A-Za-z0-9.-]+)?"
FORMS = {  # of a document, a package, a file
    "document": {"spdxVersion": r"SPDX-2\.3", "dataLicense": r"CC0-1\.0", "SPDXID": "SPDXRef-DOCUMENT", "name": r".+",
                 "documentNamespace": r"https?://[^#\s]+"},
    "package": {"name": r".+", "SPDXID": ID.pattern, "downloadLocation": r"NOASSERTION|NONE|https?://\S+", "versionInfo": r".+",
                "licenseDeclared": rf"{WORDS}( (AND|OR) {WORDS})*", "licenseConcluded": r"\S.*", "copyrightText": r".+"},
    "file": {"fileName": r"\./.+", "SPDXID": ID.pattern, "licenseConcluded": r".+", "copyrightText": r".+"},
    "relationship": {"spdxElementId": ID.pattern, "relatedSpdxElement": ID.pattern, "relationshipType": "|".join(sorted(RELATIONS))},
    "checksum": {"algorithm": "SHA1|SHA256", "checksumValue": r"[0-9a-f]{40}|[0-9a-f]{64}"},
    "licence": {"licenseId": r"LicenseRef-[A-Za-z0-9.-]+", "extractedText": r".+"},
    "creation": {"created": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"},
    "reference": {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": r"pkg:deb/debian/[^@]+@[^?]+\?\S+"},
}


def _forms(kind, value, where):
    for key, form in FORMS[kind].items():
        if not isinstance(value.get(key), str) or not re.fullmatch(form, value[key]):
            yield f"{where}: {key} is {value.get(key)!r}"


def _each(document, key, kind):
    for n, value in enumerate(document.get(key) or []):
        yield from _forms(kind, value, f"{key}[{n}]")


def complaints(document):
    out = [*_forms("document", document, "document"), *_forms("creation", document.get("creationInfo", {}), "creationInfo")]
    creators = document.get("creationInfo", {}).get("creators") or [""]
    out += [f"creator {c!r}" for c in creators if not re.match(r"(Tool|Person|Organization): .+", c)]
    for key, kind in (("packages", "package"), ("files", "file"), ("relationships", "relationship"), ("hasExtractedLicensingInfos", "licence")):
        out += _each(document, key, kind)
    ids = ["SPDXRef-DOCUMENT", *(x.get("SPDXID") for key in ("packages", "files") for x in document.get(key) or [])]
    out += [f"{i} is there twice" for i in sorted(set(ids)) if ids.count(i) > 1]
    for r in document.get("relationships") or []:
        out += [f"nothing is called {r.get(k)}" for k in ("spdxElementId", "relatedSpdxElement") if r.get(k) not in ids]
    for p in document.get("packages") or []:
        out += [] if p.get("filesAnalyzed") is False else [f"{p.get('name')}: files are not analyzed, and that is not said"]
        out += [w for ref in p.get("externalRefs", []) for w in _forms("reference", ref, str(p.get("name")))]
    for f in document.get("files") or []:
        sums = f.get("checksums") or []
        out += [w for s in sums for w in _forms("checksum", s, str(f.get("fileName")))]
        out += [] if "SHA1" in {s.get("algorithm") for s in sums} else [f"{f.get('fileName')}: no SHA1, which SPDX demands"]
    known = {x.get("licenseId") for x in document.get("hasExtractedLicensingInfos") or []}
    used = {w for p in document.get("packages") or [] for w in re.findall(r"LicenseRef-[A-Za-z0-9.-]+", p.get("licenseDeclared", ""))}
    out += [f"{w} is not explained" for w in sorted(used - known)]
    if not any(r.get("relationshipType") == "DESCRIBES" and r.get("spdxElementId") == "SPDXRef-DOCUMENT" for r in document.get("relationships") or []):
        out.append("the document describes nothing")
    return out
