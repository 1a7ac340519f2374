{{- define "assay.name" -}}
{{- printf "%s" .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "assay.selector" -}}
app.kubernetes.io/name: assay
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "assay.serverSelector" -}}
{{ include "assay.selector" . }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "assay.labels" -}}
{{ include "assay.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "assay.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "assay.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "assay.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: ["ALL"]
{{- end -}}

{{- define "assay.env" -}}
- name: ASSAY_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ required "database.existingSecret names the secret with the URL of the database" .Values.database.existingSecret }}
      key: {{ .Values.database.key }}
- name: ASSAY_LOG_LEVEL
  value: {{ .Values.log.level | quote }}
- name: ASSAY_LOG_FORMAT
  value: {{ .Values.log.format | quote }}
{{- with .Values.upstream }}
- name: ASSAY_UPSTREAM_URL
  value: {{ . | quote }}
{{- end }}
{{- if .Values.receiptKeys.existingSecret }}
- name: ASSAY_RECEIPT_KEYS
  value: /etc/assay/receipt-keys
{{- end }}
{{- range $name, $value := .Values.env }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}
