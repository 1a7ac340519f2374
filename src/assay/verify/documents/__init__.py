"""Structured outputs: parses and repairs their JSON, checks it against schema and rules, and its values against
evidence."""

from typing import TYPE_CHECKING

from assay._lazy import lazy

if TYPE_CHECKING:
    from assay.verify.documents.field_rules import check_rules as check_rules
    from assay.verify.documents.field_rules import cited_objects as cited_objects
    from assay.verify.documents.fields import DocumentFields as DocumentFields
    from assay.verify.documents.fields import FieldMatch as FieldMatch
    from assay.verify.documents.hidden_text import HIDDEN as HIDDEN
    from assay.verify.documents.hidden_text import hidden_issues as hidden_issues
    from assay.verify.documents.json_repair import JsonRepair as JsonRepair
    from assay.verify.documents.json_repair import RepairedJson as RepairedJson
    from assay.verify.documents.json_repair import repair_json as repair_json
    from assay.verify.documents.json_schema import check_parsed as check_parsed
    from assay.verify.documents.json_schema import check_structure as check_structure
    from assay.verify.documents.json_schema import compile_schema as compile_schema
    from assay.verify.documents.json_text import JsonTextError as JsonTextError
    from assay.verify.documents.json_text import Parsed as Parsed
    from assay.verify.documents.json_text import Path as Path
    from assay.verify.documents.json_text import parse as parse
    from assay.verify.documents.json_text import pointer as pointer
    from assay.verify.documents.json_text import walk as walk
    from assay.verify.documents.table_cells import TableCells as TableCells
    from assay.verify.documents.value_claims import document_claims as document_claims
else:
    __all__, __getattr__, __dir__ = lazy(
        __name__,
        {
            ".field_rules": ("check_rules", "cited_objects"),
            ".fields": ("DocumentFields", "FieldMatch"),
            ".hidden_text": ("HIDDEN", "hidden_issues"),
            ".json_repair": ("JsonRepair", "RepairedJson", "repair_json"),
            ".json_schema": ("check_parsed", "check_structure", "compile_schema"),
            ".json_text": ("JsonTextError", "Parsed", "Path", "parse", "pointer", "walk"),
            ".table_cells": ("TableCells",),
            ".value_claims": ("document_claims",),
        },
    )
